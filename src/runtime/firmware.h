// Firmware: the services of one store and the queue that runs them.
#pragma once

#include <memory>

#include "base/work_queue.h"
#include "runtime/variable_services.h"

namespace efivarium::runtime {

// Everything that changes variables, or may be slow, runs as a job of the queue, so that one
// service runs at a time (UEFI 2.10, Runtime Services Rules and Restrictions) and a firmware's
// stalls hit the CPUs that the queue is placed on.
struct Firmware {
  explicit Firmware(std::unique_ptr<VariableServices> variable_services = nullptr)
      : services(std::move(variable_services)) {}

  std::unique_ptr<VariableServices> services;
  base::WorkQueue queue{"efi_runtime"};  // ends before the services do
};

}  // namespace efivarium::runtime
