// `dartwing_fax.send_fax`: submits a fax once in each attempt, then looks from time to time how the call ended.
import { discard, type Implementation, implement, type JobContext, RetryAfter, snooze, Unrecoverable } from 'millrace'
import { faxGateway, sendFax } from '../contracts/critical.ts'
import { orgContext } from '../organization/org-context.ts'
import type { DartwingSystem } from '../system.ts'
import { faxPages } from '../telemetry/metrics.ts'
import { FaxRefused, GatewayBusy, type GatewayFax, isHopeless } from './answers.ts'
import {
  type Fax,
  faxGet,
  faxSent,
  type Transmission,
  transmissionBegin,
  transmissionFailed,
  transmissionTaken,
} from './fax-store.ts'

const LOOK_EVERY = '15s'
const LONGEST_CALL_MS = 20 * 60_000
/** The clocks of two machines: how much earlier than our row a fax may have been made there. */
const CLOCK_SKEW_MS = 60_000

export const sendFaxHandler = (system: DartwingSystem): Implementation =>
  implement(sendFax, async ({ fax: id }, ctx) => {
    const { fax, transmission } = await orgContext(ctx, async (tx) => ({
      fax: await faxGet(tx, ctx, id),
      transmission: await transmissionBegin(tx, ctx, id),
    }))
    const gatewayId = await submitted(system, { fax, transmission }, ctx)
    const state = await called(ctx, () => system.fax.get(gatewayId, ctx.signal))
    if (state.status === 'COMPLETED') return arrived(ctx, id, state)
    if (state.status === 'FAILURE') return failed(ctx, id, state)
    if (Date.now() - transmission.submittedAt.getTime() < LONGEST_CALL_MS) return snooze(LOOK_EVERY)
    return discard(`Fax ${id} has not ended 20 minutes after its submission: ask the gateway about ${gatewayId}.`)
  })

/** At most once for each attempt: a run that died after the gateway took it is found there by its label. */
async function submitted(
  system: DartwingSystem,
  { fax, transmission }: { fax: Fax; transmission: Transmission },
  ctx: JobContext,
): Promise<string> {
  if (transmission.gatewayId !== null) return transmission.gatewayId
  const label = `${ctx.jobId}:${ctx.attempt}`
  // The job id is in the name because a redriven job inherits the steps of the dead one, and has to submit anew.
  const gatewayId = await ctx.step(`submit:${label}`, () =>
    called(ctx, async () => {
      const since = new Date(transmission.submittedAt.getTime() - CLOCK_SKEW_MS)
      const adopted = transmission.isOld
        ? await system.fax.find({ to: fax.toNumber, label, since }, ctx.signal)
        : undefined
      const { id } = adopted ?? (await system.fax.submit({ to: fax.toNumber, document: fax, label }, ctx.signal))
      return id
    }).catch(async (error: unknown) => {
      if (error instanceof Unrecoverable)
        await orgContext(ctx, (tx) => transmissionFailed(tx, ctx, fax.id, error.message))
      throw error
    }),
  )
  await orgContext(ctx, (tx) => transmissionTaken(tx, ctx, gatewayId))
  return gatewayId
}

/** Calls the gateway through its breaker, and says what a refusal means for this job. */
async function called<Value>(ctx: JobContext, call: () => Promise<Value>): Promise<Value> {
  try {
    return await ctx.breaker(faxGateway, call)
  } catch (error) {
    if (error instanceof GatewayBusy) throw new RetryAfter(error.waitMs, error.message)
    if (error instanceof FaxRefused) throw new Unrecoverable(error.message)
    throw error
  }
}

function arrived(ctx: JobContext, fax: string, { id: gatewayId, numberOfPages: pages = 0 }: GatewayFax) {
  faxPages.inc({ outcome: 'sent' }, pages)
  return orgContext(ctx, async (tx) => ({ gatewayId, pages, seconds: await faxSent(tx, ctx, fax, pages) }), {
    complete: true,
  })
}

async function failed(ctx: JobContext, fax: string, state: GatewayFax): Promise<never> {
  const { errorMessage = 'no reason given', numberOfPages: pages = 0 } = state
  faxPages.inc({ outcome: 'failed' }, pages)
  await orgContext(ctx, (tx) => transmissionFailed(tx, ctx, fax, errorMessage))
  if (isHopeless(state))
    throw new Unrecoverable(`Fax ${fax} cannot be sent: ${errorMessage}. Correct it, then send it as a new fax.`)
  throw new Error(`Fax ${fax} did not arrive: ${errorMessage}`)
}
