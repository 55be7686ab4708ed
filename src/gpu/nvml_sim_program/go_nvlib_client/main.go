// What NVIDIA's device plugins for Kubernetes do: walk GPUs, MIG profiles and MIG devices with go-nvlib. On a machine with an A100
// with MIG on, and a T4. Ends with status 1 at the first answer that is not what it wanted, and says which.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/NVIDIA/go-nvlib/pkg/nvlib/device"
	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

func want(what string, found, wanted any) {
	if found != wanted {
		fmt.Fprintf(os.Stderr, "%s: wanted %v, found %v\n", what, wanted, found)
		os.Exit(1)
	}
}

// A GPU instance and its compute instance, of so many slices each.
func create(gpu nvml.Device, gpuProfile int, computeProfile int) {
	profile, code := gpu.GetGpuInstanceProfileInfo(gpuProfile)
	want("profile", code, nvml.SUCCESS)
	instance, code := gpu.CreateGpuInstance(&profile)
	want("GPU instance", code, nvml.SUCCESS)
	compute, code := instance.GetComputeInstanceProfileInfo(computeProfile, nvml.COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED)
	want("profile of a compute instance", code, nvml.SUCCESS)
	_, code = instance.CreateComputeInstance(&compute)
	want("compute instance", code, nvml.SUCCESS)
}

func main() {
	library := nvml.New()
	want("init", library.Init(), nvml.SUCCESS)
	walker := device.New(library)
	gpu, code := library.DeviceGetHandleByIndex(0)
	want("handle", code, nvml.SUCCESS)
	create(gpu, nvml.GPU_INSTANCE_PROFILE_3_SLICE, nvml.COMPUTE_INSTANCE_PROFILE_3_SLICE)
	create(gpu, nvml.GPU_INSTANCE_PROFILE_2_SLICE, nvml.COMPUTE_INSTANCE_PROFILE_1_SLICE)
	create(gpu, nvml.GPU_INSTANCE_PROFILE_1_SLICE_REV1, nvml.COMPUTE_INSTANCE_PROFILE_1_SLICE)

	gpus := []string{}
	err := walker.VisitDevices(func(index int, one device.Device) error {
		isCapable, err := one.IsMigCapable()
		want("whether it is capable of MIG", err, nil)
		isEnabled, err := one.IsMigEnabled()
		want("whether MIG is on", err, nil)
		isFabric, err := one.IsFabricAttached()
		want("whether it is on a fabric", err, nil)
		isCoherent, err := one.IsCoherent()
		want("whether it is coherent", err, nil)
		version, err := one.GetCudaComputeCapabilityAsString()
		want("compute capability", err, nil)
		brand, err := one.GetBrandAsString()
		want("brand", err, nil)
		gpus = append(gpus, fmt.Sprintf("%d %t %t %t %t %s %s", index, isCapable, isEnabled, isFabric, isCoherent, version, brand))
		return nil
	})
	want("walk over GPUs", err, nil)
	want("GPUs", strings.Join(gpus, ", "), "0 true true false false 8.0 Nvidia, 1 false false false false 7.5 Tesla")

	names := map[string]bool{}
	err = walker.VisitMigProfiles(func(profile device.MigProfile) error {
		names[profile.String()] = true
		return nil
	})
	want("walk over profiles", err, nil)
	for _, name := range []string{"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "1c.2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"} {
		want(name, names[name], true)
	}

	devices := []string{}
	err = walker.VisitMigDevices(func(index int, _ device.Device, migIndex int, one device.MigDevice) error {
		profile, err := one.GetProfile()
		want("profile of a MIG device", err, nil)
		uuid, code := one.GetUUID()
		want("UUID", code, nvml.SUCCESS)
		_, err = walker.NewMigDeviceByUUID(uuid)
		want("MIG device by UUID", err, nil)
		devices = append(devices, fmt.Sprintf("%d %d %s", index, migIndex, profile))
		return nil
	})
	want("walk over MIG devices", err, nil)
	want("MIG devices", strings.Join(devices, ", "), "0 0 3g.40gb, 0 1 1c.2g.20gb, 0 2 1g.10gb+me")
	fmt.Println("ok")
}
