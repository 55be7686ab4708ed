// The life of MIG by go-nvml, on a machine with an A100, an H100 and a T4, all with MIG off. Ends with status 1 at the first
// answer that is not what it wanted, and says which. Its argument is the program berth-nvml-sim.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// Ids of an A100's profiles.
const (
	half    = 9
	quarter = 14
	seventh = 19
)

func want(what string, found, wanted any) {
	if !reflect.DeepEqual(found, wanted) {
		fmt.Fprintf(os.Stderr, "%s: wanted %v, found %v\n", what, wanted, found)
		os.Exit(1)
	}
}

// The value of a call that must succeed.
func get[T any](value T, code nvml.Return) T {
	want("a call", code, nvml.SUCCESS)
	return value
}

func refused[T any](what string, wanted nvml.Return) func(T, nvml.Return) {
	return func(_ T, code nvml.Return) { want(what, code, wanted) }
}

// A verb of berth-nvml-sim, or another program on the machine.
func run(command ...string) {
	output, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	want(strings.Join(command, " ")+": "+string(output), err, nil)
}

func verb(words ...string) { run(append([]string{os.Args[1]}, words...)...) }

func device(index int) nvml.Device { return get(nvml.DeviceGetHandleByIndex(index)) }

// The profiles by their ids, of all versions.
func profiles(gpu nvml.Device) map[uint32]nvml.GpuInstanceProfileInfo {
	found := map[uint32]nvml.GpuInstanceProfileInfo{}
	for number := 0; number < nvml.GPU_INSTANCE_PROFILE_COUNT; number++ {
		first, code := gpu.GetGpuInstanceProfileInfo(number)
		if code == nvml.ERROR_NOT_SUPPORTED {
			continue
		}
		want("a profile", code, nvml.SUCCESS)
		second, third := get(gpu.GetGpuInstanceProfileInfoV(number).V2()), get(gpu.GetGpuInstanceProfileInfoV(number).V3())
		want("profile, version 2", []any{second.Id, second.MemorySizeMB, second.MultiprocessorCount},
			[]any{first.Id, first.MemorySizeMB, first.MultiprocessorCount})
		want("profile, version 3", []any{third.Id, third.MemorySizeMB, third.Name}, []any{first.Id, first.MemorySizeMB, second.Name})
		found[first.Id] = first
	}
	return found
}

func enumeration() {
	want("GPUs", get(nvml.DeviceGetCount()), 3)
	for index, name := range []string{"NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "Tesla T4"} {
		gpu := device(index)
		want("name", get(gpu.GetName()), name)
		uuid, place := get(gpu.GetUUID()), get(gpu.GetPciInfo())
		want("index by UUID", get(get(nvml.DeviceGetHandleByUUID(uuid)).GetIndex()), index)
		address := fmt.Sprintf("%04x:%02x:%02x.0", place.Domain, place.Bus, place.Device)
		want("index by address", get(get(nvml.DeviceGetHandleByPciBusId(address)).GetIndex()), index)
		want("memory", get(gpu.GetMemoryInfo()).Total, get(gpu.GetMemoryInfo_v2()).Total)
	}
	refused[nvml.Device]("index 3", nvml.ERROR_INVALID_ARGUMENT)(nvml.DeviceGetHandleByIndex(3))
}

func mode() {
	isResetless := []nvml.FieldValue{{FieldId: nvml.FI_DEV_IS_RESETLESS_MIG_SUPPORTED}}
	for index, wanted := range []uint32{0, 1} {
		want("field", device(index).GetFieldValues(isResetless), nvml.SUCCESS)
		want("no reset for the mode", binary.LittleEndian.Uint32(isResetless[0].Value[:]), wanted)
	}
	want("A100's mode", get(device(0).SetMigMode(1)), nvml.ERROR_RESET_REQUIRED)
	_, pending, _ := device(0).GetMigMode()
	want("pending mode", pending, 1)
	run("nvidia-smi", "-r", "-i", "0")
	want("H100's mode", get(device(1).SetMigMode(1)), nvml.SUCCESS)
	for index := 0; index < 2; index++ {
		current, pending, code := device(index).GetMigMode()
		want("mode", []any{current, pending, code}, []any{1, 1, nvml.SUCCESS})
	}
	refused[nvml.Return]("T4's mode", nvml.ERROR_NOT_SUPPORTED)(device(2).SetMigMode(1))
}

func lifeCycle() {
	gpu := device(0)
	known := profiles(gpu)
	want("profiles", len(known), 7)
	halfProfile, quarterProfile, seventhProfile := known[half], known[quarter], known[seventh]
	want("places of 3g", get(gpu.GetGpuInstancePossiblePlacements(&halfProfile)),
		[]nvml.GpuInstancePlacement{{Start: 0, Size: 4}, {Start: 4, Size: 4}})
	instance := get(gpu.CreateGpuInstanceWithPlacement(&halfProfile, &nvml.GpuInstancePlacement{Start: 0, Size: 4}))
	chosen := get(get(gpu.CreateGpuInstance(&quarterProfile)).GetInfo())
	want("place of 2g", chosen.Placement, nvml.GpuInstancePlacement{Start: 4, Size: 2})
	want("capacity for 1g", get(gpu.GetGpuInstanceRemainingCapacity(&seventhProfile)), 1)
	refused[nvml.GpuInstance]("another 3g", nvml.ERROR_INSUFFICIENT_RESOURCES)(gpu.CreateGpuInstance(&halfProfile))
	refused[nvml.GpuInstance]("3g at 2", nvml.ERROR_INVALID_ARGUMENT)(
		gpu.CreateGpuInstanceWithPlacement(&halfProfile, &nvml.GpuInstancePlacement{Start: 2, Size: 4}))
	listed := get(gpu.GetGpuInstances(&halfProfile))
	want("3g instances", len(listed), 1)
	want("the same one", get(listed[0].GetInfo()).Id, get(instance.GetInfo()).Id)

	two := get(instance.GetComputeInstanceProfileInfo(nvml.COMPUTE_INSTANCE_PROFILE_2_SLICE, nvml.COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED))
	want("name of 2c", name(get(instance.GetComputeInstanceProfileInfoV(nvml.COMPUTE_INSTANCE_PROFILE_2_SLICE, 0).V3()).Name), "MIG 2c.3g.40gb")
	compute := get(instance.CreateComputeInstance(&two))
	refused[nvml.ComputeInstance]("another 2c", nvml.ERROR_INSUFFICIENT_RESOURCES)(instance.CreateComputeInstance(&two))
	want("2c instances", len(get(instance.GetComputeInstances(&two))), 1)
	migDevice := get(gpu.GetMigDeviceHandleByIndex(0))
	want("MIG device", get(migDevice.IsMigDeviceHandle()), true)
	want("its name", get(migDevice.GetName()), "NVIDIA A100-SXM4-80GB MIG 2c.3g.40gb")
	want("its memory", uint64(get(migDevice.GetAttributes()).MemorySizeMB)<<20, get(migDevice.GetMemoryInfo()).Total)
	uuid := get(migDevice.GetUUID())
	want("by UUID", get(get(nvml.DeviceGetHandleByUUID(uuid)).GetGpuInstanceId()), int(get(instance.GetInfo()).Id))
	want("its GPU", get(get(migDevice.GetDeviceHandleFromMigDeviceHandle()).GetUUID()), get(gpu.GetUUID()))

	verb("process", "add", "--uuid", uuid, "--pid", strconv.Itoa(os.Getpid()), "--memory-mib", "100")
	processes := get(migDevice.GetComputeRunningProcesses())
	want("processes", []any{len(processes), processes[0].Pid, processes[0].UsedGpuMemory}, []any{1, uint32(os.Getpid()), uint64(100 << 20)})
	want("a busy compute instance", compute.Destroy(), nvml.ERROR_IN_USE)
	verb("process", "remove", "--uuid", uuid, "--pid", strconv.Itoa(os.Getpid()))
	want("a GPU instance with a compute instance", instance.Destroy(), nvml.ERROR_IN_USE)
	want("compute instance", compute.Destroy(), nvml.SUCCESS)
	want("GPU instance", instance.Destroy(), nvml.SUCCESS)
	want("GPU instance again", instance.Destroy(), nvml.ERROR_INVALID_ARGUMENT)
}

// The text of a C array.
func name(characters [96]int8) string {
	text := ""
	for _, character := range characters {
		if character == 0 {
			break
		}
		text += string(rune(character))
	}
	return text
}

func trouble() {
	events := get(nvml.EventSetCreate())
	want("registration", device(1).RegisterEvents(nvml.EventTypeXidCriticalError|nvml.EventMigConfigChange, events), nvml.SUCCESS)
	refused[nvml.EventData]("no event", nvml.ERROR_TIMEOUT)(events.Wait(0))
	seventhProfile := profiles(device(1))[seventh]
	verb("fault", "--gpu", "1", "--call", "create_gpu_instance", "--error", "IN_USE")
	refused[nvml.GpuInstance]("a fault", nvml.ERROR_IN_USE)(device(1).CreateGpuInstance(&seventhProfile))
	get(device(1).CreateGpuInstance(&seventhProfile))
	want("change", get(events.Wait(20000)).EventType, uint64(nvml.EventMigConfigChange))
	verb("fault", "--gpu", "1", "--xid", "79")
	event := get(events.Wait(20000))
	want("XID", []any{event.EventType, event.EventData}, []any{uint64(nvml.EventTypeXidCriticalError), uint64(79)})
	refused[nvml.Device]("a lost GPU", nvml.ERROR_GPU_IS_LOST)(nvml.DeviceGetHandleByIndex(1))
	verb("reset", "--gpu", "1")
	want("capacity after a reset", get(device(1).GetGpuInstanceRemainingCapacity(&seventhProfile)), 7)
	want("freed", events.Free(), nvml.SUCCESS)
}

func main() {
	want("init", nvml.Init(), nvml.SUCCESS)
	enumeration()
	mode()
	lifeCycle()
	trouble()
	want("shutdown", nvml.Shutdown(), nvml.SUCCESS)
	refused[int]("after the shutdown", nvml.ERROR_UNINITIALIZED)(nvml.DeviceGetCount())
	fmt.Println("ok")
}
