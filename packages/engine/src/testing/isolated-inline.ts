import { runContext } from '../run-context.ts'
import type { Implementation } from '../worker/context.ts'
import type { IsolatedHandler } from '../worker/isolation/isolated-run.ts'

/** A test runs an isolated handler in its own process: there it can be stepped through, and nothing has to be killed. */
export async function isolatedInline({ contract, handler }: Implementation): Promise<IsolatedHandler> {
  if (typeof handler === 'function') throw new Error(`The handler of job "${contract.type}" is not isolated.`)
  const { default: run } = await import(handler.module.href)
  return async (payload, context) => {
    const { jobId, correlationId, traceParent } = context
    return runContext.run({ jobId, correlationId, traceParent }, () => run(payload, context))
  }
}
