"""The troubles that a machine, its driver, its other clients and its administrator can have, each drawn at random.
BERTH_MORE_TROUBLES: names of functions, separated by commas, that are drawn, too."""

import contextlib
import os
import signal
import subprocess
import time

from machines import CALLS

ERRORS = ("IN_USE", "INSUFFICIENT_RESOURCES", "UNKNOWN", "NO_PERMISSION", "TIMEOUT", "INVALID_ARGUMENT", "GPU_IS_LOST")
READ_CALLS = ("nvmlDeviceGetMigMode", "nvmlDeviceGetGpuInstances", "nvmlGpuInstanceGetInfo", "read")
XIDS = (13, 31, 48, 63, 79, 95)
HANG_MS = 600_000
HELD_SECONDS = 1.0  # so long a held call is waited for


class Troubles:
    """Draws and makes troubles. `told`: what was done, in words."""

    def __init__(self, scene, rng):
        self.scene, self.rng, self.told = scene, rng, []
        self.began = time.monotonic()
        self.processes = []  # (uuid, pid)
        self.broken = set()  # GPUs that need a reset
        self.had_mig = []    # by GPU, before the first reboot
        self.kinds = [(self.refuse, 4), (self.report_failure, 4), (self.be_slow, 3), (self.hang, 2),
                      (self.hang_reads, 0.3), (self.fail_reads, 2), (self.lose, 1), (self.report_xid, 1),
                      (self.reset, 1), (self.others_create, 5), (self.others_destroy, 3), (self.others_replace, 2),
                      (self.others_create_like_us, 2), (self.use, 1), (self.unuse, 1), (self.clear, 3), (self.kill, 5),
                      (self.stop, 1), (self.kill_in_call, 6), (self.reboot, 1)]
        more = os.environ.get("BERTH_MORE_TROUBLES", "").split(",")
        self.kinds += [(getattr(self, name), 3) for name in more if name]

    def make(self):
        """One of them."""
        kind, = self.rng.choices([kind for kind, _ in self.kinds], [weight for _, weight in self.kinds])
        kind()

    def tell(self, text):
        """Takes it down before it is done."""
        self.told.append(f"{time.monotonic() - self.began:7.3f} {text}")

    def do(self, verb, *words):
        """A verb of berth-nvml-sim."""
        self.tell(" ".join(map(str, (verb, *words))))
        self.scene.machine.do(verb, *words)

    def any_gpu(self):
        """Mostly one that berth may change."""
        managed = sorted(self.scene.fleet.managed)
        return self.rng.choice(managed if self.rng.random() < 0.75 else range(len(self.scene.fleet.models)))

    def any_gpu_of_others(self):
        """One that others change: often one that berth must leave alone."""
        unlisted = sorted(set(range(len(self.scene.fleet.models))) - self.scene.fleet.managed)
        return self.rng.choice(unlisted) if unlisted and self.rng.random() < 0.4 else self.any_gpu()

    # ---- the driver

    def refuse(self):
        """Calls that change something are refused."""
        self.do("fault", "--gpu", self.any_gpu(), "--call", self.rng.choice(CALLS), "--error", self.rng.choice(ERRORS),
                "--times", self.rng.randint(1, 3), "--after", self.rng.choice((0, 0, 1, 2)))

    def report_failure(self):
        """They are carried out, and report a failure: not the one that a driver reports of a place that is taken, as
        then nobody can tell whose instance stands there."""
        error = self.rng.choice([error for error in ERRORS if error != "INSUFFICIENT_RESOURCES"])
        self.do("fault", "--gpu", self.any_gpu(), "--call", self.rng.choice(CALLS), "--error", error, "--done",
                "--times", self.rng.randint(1, 2), "--after", self.rng.choice((0, 0, 1)))

    def be_slow(self):
        """They, or questions, take long."""
        self.do("fault", "--gpu", self.any_gpu(), "--call", self.rng.choice((*CALLS, *READ_CALLS)), "--ms",
                self.rng.choice((30, 200, 700)), "--times", self.rng.randint(1, 4))

    def hang(self):
        """One that changes something does not return."""
        self.do("fault", "--gpu", self.any_gpu(), "--call", self.rng.choice(CALLS), "--ms", HANG_MS)

    def hang_reads(self):
        """The question what stands there is not answered, which makes a start wait."""
        self.do("fault", "--gpu", self.any_gpu(), "--call", "nvmlDeviceGetGpuInstances", "--ms", HANG_MS)

    def hang_any_read(self):
        """No question is answered, not even which GPUs there are."""
        self.do("fault", "--gpu", self.any_gpu(), "--call", "read", "--ms", HANG_MS)

    def fail_reads(self):
        """Questions fail."""
        self.do("fault", "--gpu", self.any_gpu(), "--call", self.rng.choice(READ_CALLS), "--error", "UNKNOWN",
                "--times", self.rng.randint(1, 20))

    def lose(self):
        """A GPU falls off the bus; mostly it is reset later."""
        gpu = self.any_gpu()
        self.broken.add(gpu)
        self.do("fault", "--gpu", gpu, "--lost")

    def report_xid(self):
        """An error; some ask for a reset."""
        gpu = self.any_gpu()
        self.broken.add(gpu)
        self.do("fault", "--gpu", gpu, "--xid", self.rng.choice(XIDS), "--times", self.rng.choice((1, 5)))

    def reset(self, gpu=None):
        """All instances are gone."""
        if gpu is None:
            gpu = self.rng.choice(sorted(self.broken)) if self.broken else self.any_gpu()
        self.broken.discard(gpu)
        self.scene.foreign.forget_gpu(gpu)
        self.do("reset", "--gpu", gpu)

    def clear(self):
        """The faults of a GPU are over."""
        self.do("fault", "--gpu", self.any_gpu(), "--clear")

    # ---- others

    def free_hang(self, gpu):
        """Others do not wait for a call that hangs, as the whole run would wait with them."""
        self.scene.machine.do("fault", "--gpu", gpu, "--clear")

    def others_create(self):
        """At a random place, free or not."""
        gpu = self.any_gpu_of_others()
        if profiles := self.scene.fleet.foreign_profiles(gpu):
            profile = self.rng.choice(profiles)
            self.create(gpu, profile, self.rng.choice(profile.starts))

    def create(self, gpu, profile, start):
        """An instance of others."""
        self.free_hang(gpu)
        self.tell(f"others create {profile.name}@{start} on gpu-{gpu}")
        self.scene.others.create(gpu, profile, start)

    def instances(self, gpu):
        """What stands on a GPU."""
        return self.scene.machine.show()[gpu]["gpu_instances"]

    def others_destroy(self):
        """Their own instance, or ours."""
        gpu = self.any_gpu_of_others()
        if there := self.instances(gpu):
            self.destroy(gpu, self.rng.choice(there))

    def destroy(self, gpu, instance):
        """An instance, by others."""
        self.free_hang(gpu)
        self.tell(f"others destroy {instance['profile']}@{instance['start']} on gpu-{gpu}")
        self.scene.foreign.known.pop((gpu, instance["id"]), None)
        self.scene.others.destroy(gpu, instance["id"])
        self.scene.foreign.learn(self.scene.machine.show())  # it may have been refused

    def others_destroy_compute(self):
        """Only the compute instance of one of ours."""
        gpu = self.rng.choice(sorted(self.scene.fleet.managed))
        there = [each for each in self.instances(gpu) if (gpu, each["id"]) not in self.scene.foreign.known]
        if there:
            instance = self.rng.choice(there)
            self.free_hang(gpu)
            self.tell(f"others destroy the compute instance of {instance['profile']}@{instance['start']} on gpu-{gpu}")
            self.scene.others.destroy_compute(gpu, instance["id"])

    def others_replace(self):
        """One of ours by one of theirs, at the same place."""
        gpu = self.any_gpu_of_others()
        if not (there := self.instances(gpu)):
            return
        instance = self.rng.choice(there)
        fitting = [profile for profile in self.scene.fleet.foreign_profiles(gpu) if instance["start"] in profile.starts]
        if fitting:
            self.destroy(gpu, instance)
            self.create(gpu, self.rng.choice(fitting), instance["start"])

    def others_create_like_us(self):
        """With a profile that services use, where no plan of berth can want the same: next to an instance of others
        that the API shows. (Nobody could tell whose it is where an order of berth is under way.)"""
        up, scene = self.scene.running.up, self.scene
        gpu = self.rng.choice(sorted(scene.fleet.managed))
        if up is None or not scene.fleet.is_able(gpu):
            return
        shown = [item["status"] for item in up.items("slices") if item["status"]["gpu"] == f"gpu-{gpu}"]
        states = {each["state"] for each in shown}
        if "foreign" not in states or states - {"foreign", "serving", "idle"}:
            return
        model = scene.fleet.models[gpu]
        profile = scene.fleet.profiles[model][self.rng.choice(sorted(scene.fleet.ours[model]))]
        start = self.rng.choice(profile.starts)
        if any(each["start"] == start and each["profile"] == profile.name for each in shown):
            return
        before = {scene.foreign.seen(each) for each in self.instances(gpu)}
        self.create(gpu, profile, start)
        for each in self.instances(gpu):
            if (each["profile"], each["start"]) == (profile.name, start) and scene.foreign.seen(each) not in before:
                scene.foreign.add(gpu, each)

    def use(self):
        """A process on one of our instances."""
        gpu = self.any_gpu()
        uuids = [compute["uuid"] for each in self.instances(gpu) for compute in each["compute_instances"]]
        if uuids:
            self.processes.append((self.rng.choice(uuids), 4711 + len(self.processes)))
            with contextlib.suppress(subprocess.CalledProcessError):  # it may be gone by now
                self.do("process", "add", "--uuid", self.processes[-1][0], "--pid", self.processes[-1][1])

    def unuse(self):
        """The processes end."""
        there = {(compute["uuid"], process["pid"]) for device in self.scene.machine.show()
                 for each in device["gpu_instances"] for compute in each["compute_instances"]
                 for process in compute["processes"]}
        for uuid, pid in self.processes:
            if (uuid, pid) in there:
                self.do("process", "remove", "--uuid", uuid, "--pid", pid)
        self.processes.clear()

    # ---- kills

    def kill(self, victims=None):
        """Of `berth up`, of its hands, or of both; and a start, soon or later."""
        victims = victims or self.rng.choice((("up",), ("hands",), ("up", "hands"), ("hands", "up")))
        self.tell(f"SIGKILL to {' and '.join(victims)}")
        for victim in victims:
            if victim == "up":
                self.scene.running.kill_up()
            else:
                self.scene.running.kill_hands()
        self.stay_down()

    def stop(self):
        """SIGTERM to `berth up`."""
        self.tell("SIGTERM to up")
        self.scene.running.kill_up(signal.SIGTERM)
        self.stay_down()

    def stay_down(self):
        """For a while, in which others may do something; without `berth up` others must not do what nobody can tell
        from what berth did."""
        time.sleep(self.rng.choice((0, 0, 0.05, 0.3)))
        if self.rng.random() < 0.4:
            self.rng.choice((self.others_create, self.others_destroy, self.others_replace, self.clear))()
        self.start()

    def start(self):
        """Whatever does not run. Hands of its own are started again by `berth up`, or with another one at once."""
        running = self.scene.running
        if running.up is not None and not running.have_hands() and not running.socket:
            if self.rng.random() < 0.5:
                return
            running.kill_up(signal.SIGTERM)
        running.start()
        self.tell("started")

    def kill_in_call(self):
        """While a call is held, before it is carried out or after that."""
        gpu = self.rng.choice(sorted(self.scene.fleet.managed))
        if self.scene.fleet.is_able(gpu):
            self.hold(gpu, self.rng.choice(CALLS), is_after=self.rng.random() < 0.5)
            self.wait_for_held(gpu)
            self.kill()
            self.do("fault", "--gpu", gpu, "--clear")

    def hold(self, gpu, call, is_after):
        """The next such call does not return, and is carried out before, or not."""
        self.do("fault", "--gpu", gpu, "--clear")
        ending = ("--done", "--error", "UNKNOWN") if is_after else ()
        self.do("fault", "--gpu", gpu, "--call", call, "--ms", HANG_MS, *ending)

    def wait_for_held(self, gpu, seconds=HELD_SECONDS, change=None):
        """Whether a call is held within that time. `change`: makes plans meanwhile."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not self.scene.machine.show()[gpu]["faults"]:
                self.tell("it is held")
                return True
            (change or self.scene.services.change)()
            time.sleep(0.05)
        return False

    def reboot(self):
        """Of the machine, so of its processes, too. Newer GPUs forget their MIG mode."""
        self.tell("SIGKILL to all, for a reboot")
        self.scene.running.kill_up()
        self.scene.running.kill_hands()
        self.scene.wait_for_hands()
        self.reboot_machine()
        self.stay_down()

    def reboot_alone(self):
        """The processes go on, as they do not on a real machine."""
        self.reboot_machine()

    def reboot_machine(self):
        """Nothing that stood is there any more."""
        devices = self.scene.machine.show()
        self.had_mig = self.had_mig or [device["mig"]["current"] for device in devices]
        for gpu in range(len(devices)):
            self.scene.foreign.forget_gpu(gpu)
        self.do("reset", "--reboot")
        self.processes.clear()
        self.broken.clear()
        self.turn_mig_on()

    def turn_mig_on(self):
        """Where a reboot has turned it off, as others would: nothing here may."""
        for gpu, device in enumerate(self.scene.machine.show()):
            if self.had_mig and self.had_mig[gpu] and not device["mig"]["current"]:
                self.tell(f"others turn MIG on, gpu-{gpu}")
                self.scene.others.turn_mig_on(gpu)

    # ---- the end

    def end(self):
        """All troubles are over; what others have made stays."""
        for gpu in range(len(self.scene.fleet.models)):
            self.do("fault", "--gpu", gpu, "--clear")
            if gpu in self.broken or self.scene.machine.show()[gpu]["lost"]:
                self.reset(gpu)
        self.turn_mig_on()  # a fault may have kept it from being on
        self.unuse()
        running = self.scene.running
        if running.up is not None and not running.have_hands() and not running.socket:
            running.kill_up(signal.SIGTERM)
        running.start()
        self.tell("all is over")
