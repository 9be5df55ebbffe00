import { checkServiceName, type Service, serviceName } from '../contract/service.ts'
import { TimedOut } from '../errors.ts'
import type { Door } from '../governance/breaker-call.ts'
import type { Breakers } from '../governance/breakers.ts'
import type { Run } from './run.ts'

/** A run of this worker at the breaker of a service. */
export function breakerDoor(breakers: Breakers, run: Run, given: Service | string): Door {
  checkServiceName(serviceName(given))
  const service = breakers.serviceOf(given)
  const by = { jobId: run.job.id, runId: run.runId }
  return {
    enter: () => breakers.enter(service, by),
    succeeded: () => breakers.succeeded(service, by),
    failed: async (error) => {
      // Who was cancelled or told to stop breaks off its calls; who ran out of time was kept waiting.
      const isBrokenOff = run.abortReason !== undefined && !(run.abortReason instanceof TimedOut)
      if (!isBrokenOff) await breakers.failed(service, by, error)
    },
  }
}
