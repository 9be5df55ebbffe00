// One job, run now, in the test's own process.
import type { EnqueueOptions, OptionsArgument } from '../client/enqueue-options.ts'
import type { JobContract, PayloadInput } from '../contract/job.ts'
import { InvalidDefinition } from '../errors.ts'
import { Millrace } from '../millrace.ts'
import type { Implementation } from '../worker/context.ts'
import { type BareOptions, runBare } from './bare-run.ts'
import { inlineBreakers } from './inline-breakers.ts'
import { InlineClaims } from './inline-claims.ts'
import { InlineRunner } from './inline-runner.ts'
import type { ResultOutput, RunReport } from './report.ts'

type JobOptions = Omit<EnqueueOptions, 'tx' | 'runAt' | 'delay'>

export type RunJobOptions = JobOptions &
  (
    | (BareOptions & { millrace?: undefined })
    /** Run it in this client's database: enqueued, claimed, run and settled as a worker does it. */
    | { millrace: Millrace; attempt?: undefined; age?: undefined; clock?: undefined }
  )

/**
 * Runs a handler once, as a worker would: the payload is checked, stored as JSON and parsed again, and what the handler
 * returns or throws becomes the outcome. Without `{ millrace }` nothing is written. Throws what enqueueing throws.
 */
export async function runJob<C extends JobContract>(
  implementation: Implementation<C>,
  payload: PayloadInput<C>,
  ...[options = {}]: OptionsArgument<C, RunJobOptions>
): Promise<RunReport<ResultOutput<C>>> {
  if (implementation?.contract === undefined)
    throw new InvalidDefinition('runJob got no implementation: pass what implement(contract, handler) returned.')
  const { millrace } = options as RunJobOptions
  const report =
    millrace === undefined
      ? await runBare(implementation, payload, options as BareOptions & JobOptions)
      : await runStored(millrace, implementation, { payload, options: options as JobOptions })
  return report as RunReport<ResultOutput<C>>
}

async function runStored(
  millrace: Millrace,
  implementation: Implementation,
  job: { payload: unknown; options: JobOptions },
): Promise<RunReport> {
  const { contract } = implementation
  const services = Millrace.servicesOf(millrace)
  const breakers = inlineBreakers(services)
  const claims = new InlineClaims(services, [contract], breakers)
  // A debounced job would wait, as its contract says.
  const enqueued = await millrace.enqueueByType(contract.type, job.payload, { ...job.options, delay: 0 })
  if (enqueued.status === 'duplicate') {
    throw new InvalidDefinition(
      `Job ${enqueued.id} holds the dedup key, so there is no new job to run. Run what waits with drain(), or use another key.`,
    )
  }
  await claims.begin()
  try {
    const run = await claims.one({ id: enqueued.id, queue: contract.queue.name })
    return await new InlineRunner(services, [implementation], breakers).run(run)
  } finally {
    await claims.end()
  }
}
