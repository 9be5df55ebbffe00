// A worker of the village that also delivers escalations, as `millrace dev` and `millrace work` do.
import { type AlertOptions, createMillrace } from 'millrace'
import type { FakeClock } from 'millrace/testing'
import { silent, type Village } from './setup.ts'

interface EscalatingOptions {
  readonly clock?: FakeClock
  readonly alerts?: AlertOptions
}

export async function escalating(t: Village, { clock, alerts = {} }: EscalatingOptions = {}) {
  const { jobs, handlers, escalation } = t.village
  if (escalation === undefined) throw new Error('The village has no escalation.')
  const millrace = createMillrace({
    ...{ database: t.url, jobs: [...jobs, ...escalation.jobs], logger: silent },
    ...(clock !== undefined && { clock }),
  })
  const delivery = escalation.attach({ millrace, logger: silent })
  const worker = await millrace.work({ handlers: [...handlers, ...delivery.handlers], alerts, gracePeriod: '2s' })
  return {
    millrace,
    worker,
    /** Looks at the outbox until the condition holds. */
    async until(condition: () => boolean): Promise<void> {
      const look = setInterval(() => void delivery.tick().catch(() => {}), 100)
      try {
        await t.sandbox.received.until(condition, AbortSignal.timeout(20_000))
      } finally {
        clearInterval(look)
      }
    },
    settle: () => delivery.settle(),
    async [Symbol.asyncDispose]() {
      await delivery.stop()
      await millrace.close()
    },
  }
}
