"""GPU models as far as the oracle needs them: SMs and compute slices of each profile.

Carried over from the project's reference table mig_profiles.json (NVIDIA's MIG user guide and real `nvidia-smi mig`
listings; its sources are named there). None: not known. oracle_test.py compares the two if the table is available.
"""

WHOLE = "full"  # a GPU that is not partitioned, at start 0

# model: (SMs of the whole GPU, {profile: (SMs, compute slices)})
CUT = {
    "A100-40GB": (108, {
        "1g.5gb": (14, 1), "1g.5gb+me": (14, 1), "1g.10gb": (14, 1), "2g.10gb": (28, 2), "3g.20gb": (42,
        3), "4g.20gb": (56, 4), "7g.40gb": (98, 7)}),
    "A100-80GB": (108, {
        "1g.10gb": (14, 1), "1g.10gb+me": (14, 1), "1g.20gb": (14, 1), "2g.20gb": (28, 2), "3g.40gb":
        (42, 3), "4g.40gb": (56, 4), "7g.80gb": (98, 7)}),
    "A30-24GB": (56, {
        "1g.6gb": (14, 1), "1g.6gb+me": (14, 1), "2g.12gb": (28, 2), "2g.12gb+me": (28, 2), "4g.24gb":
        (56, 4)}),
    "H100-80GB-SXM5": (132, {
        "1g.10gb": (16, 1), "1g.10gb+me": (16, 1), "1g.20gb": (26, 1), "2g.20gb": (32, 2), "3g.40gb":
        (60, 3), "4g.40gb": (64, 4), "7g.80gb": (132, 7)}),
    "H100-80GB-PCIe": (114, {
        "1g.10gb": (14, 1), "1g.10gb+me": (14, 1), "1g.20gb": (14, 1), "2g.20gb": (30, 2), "3g.40gb":
        (46, 3), "4g.40gb": (62, 4), "7g.80gb": (114, 7)}),
    "H100-94GB-NVL": (132, {
        "1g.12gb": (16, 1), "1g.12gb+me": (16, 1), "1g.24gb": (26, 1), "2g.24gb": (32, 2), "3g.47gb":
        (60, 3), "4g.47gb": (64, 4), "7g.94gb": (132, 7)}),
    "GH200-96GB": (132, {
        "1g.12gb": (16, 1), "1g.12gb+me": (16, 1), "1g.24gb": (26, 1), "2g.24gb": (32, 2), "3g.48gb":
        (60, 3), "4g.48gb": (64, 4), "7g.96gb": (132, 7)}),
    "GH200-144GB": (132, {
        "1g.18gb": (16, 1), "1g.18gb+me": (16, 1), "1g.36gb": (26, 1), "2g.36gb": (32, 2), "3g.72gb":
        (60, 3), "4g.72gb": (64, 4), "7g.144gb": (132, 7)}),
    "H200-141GB": (132, {
        "1g.18gb": (16, 1), "1g.18gb+me": (16, 1), "1g.35gb": (26, 1), "2g.35gb": (32, 2), "3g.71gb":
        (60, 3), "4g.71gb": (64, 4), "7g.141gb": (132, 7)}),
    "B200-180GB": (148, {
        "1g.23gb": (18, 1), "1g.23gb+me": (18, 1), "1g.45gb": (30, 1), "2g.45gb": (36, 2), "3g.90gb":
        (None, 3), "4g.90gb": (None, 4), "7g.180gb": (None, 7)}),
    "GB200-186GB": (None, {
        "1g.23gb": (18, 1), "1g.23gb+me": (18, 1), "1g.47gb": (32, 1), "2g.47gb": (38, 2), "3g.93gb":
        (None, 3), "4g.93gb": (None, 4), "7g.186gb": (None, 7)}),
    "RTX-PRO-6000-Blackwell-96GB": (188, {
        "1g.24gb": (46, 1), "1g.24gb+me": (46, 1), "1g.24gb+gfx": (46, 1), "1g.24gb+me.all": (46, 1),
        "1g.24gb-me": (46, 1), "2g.48gb": (94, 2), "2g.48gb+gfx": (94, 2), "2g.48gb+me.all": (94, 2),
        "2g.48gb-me": (94, 2), "4g.96gb": (188, 4), "4g.96gb+gfx": (188, 4)}),
}

# GPUs without MIG: model: SMs (NVIDIA's data sheets; SCENARIO.md names the models, not their SMs)
UNCUT = {"T4-16GB": 40, "V100-16GB": 80, "V100-32GB": 80, "A10-24GB": 72, "L4-24GB": 58, "L40S-48GB": 142}


def resolve(name):
    """The model that `name` means: itself, H100-80GB as SXM5, or the only model that begins with it, at least up
    to a hyphen (L4 is not L40S)."""
    models = list(CUT) + list(UNCUT)
    if name in models:
        return name
    if name == "H100-80GB":
        return "H100-80GB-SXM5"
    found = [model for model in models if model.startswith(name)]
    if len(found) != 1:
        found = [model for model in found if model.startswith(name + "-")] or found
    if len(found) != 1:
        raise ValueError(f"gpu: wanted the name or a unique prefix of a known model, found {name!r}: {found}")
    return found[0]


def whole_sms(model):
    """SMs of the whole GPU."""
    return UNCUT[model] if model in UNCUT else CUT[model][0]


def profiles(model):
    """Names of the profiles of `model`, with the whole GPU last."""
    return list(CUT.get(model, (0, {}))[1]) + [WHOLE]


def profile_sms(model, profile):
    """SMs of one slice of `profile`; the whole GPU's for `full`."""
    return whole_sms(model) if profile == WHOLE else CUT[model][1][profile][0]


def compute_size(model, profile):
    """The size used in retraining tables: 1g, 2g, ...; the whole GPU counts as its largest profile."""
    if profile == WHOLE and model in UNCUT:
        return WHOLE
    largest = largest_profile(model) if profile == WHOLE else profile
    return f"{CUT[model][1][largest][1]}g"


def largest_profile(model):
    """The profile with most compute slices, the first one listed of several; None for a GPU without MIG."""
    table = CUT.get(model, (0, {}))[1]
    most = max((slices for _, slices in table.values()), default=None)
    return next((name for name, (_, slices) in table.items() if slices == most), None)
