// `webhook`: tells the partner which places have changed.
import { type Implementation, implement } from 'millrace'
import { services, webhook } from '../contracts.ts'
import type { LipasSystem } from '../system.ts'
import { objectsCounted } from '../telemetry/metrics.ts'
import { noteDelivery } from '../utp/deliveries.ts'
import { type Entry, entriesOf } from '../utp/entries.ts'

/** No request was made: every id was unknown. */
const NOTHING_SENT = 204

export const webhookHandler = (system: LipasSystem): Implementation =>
  implement(webhook, async (payload, ctx) => {
    const { 'lipas-ids': lipasIds = [], 'loi-ids': loiIds = [], 'operation-type': operationType = null } = payload
    const { entries: objects, unknown } = await entriesOf(system.database, { lipasIds, loiIds })
    const status = await ctx.step('tell', async () => {
      if (objects.length === 0) return NOTHING_SENT
      const told = { webhookId: ctx.jobId, objects, signal: ctx.signal }
      return ctx.breaker(services.webhook, () => system.utp.tell(told))
    })
    if (unknown.length > 0) ctx.log.warn({ unknown }, 'the register does not have these ids')
    for (const kind of ['sports-site', 'loi'] as const)
      objectsCounted.inc({ kind }, objects.filter(ofKind(kind)).length)
    return ctx.transaction(async (tx) => {
      await noteDelivery(tx, { jobId: ctx.jobId, operationType, objects: objects.length, status })
      return { sent: objects.length, unknown: [...unknown], status }
    })
  })

const ofKind =
  (kind: Entry['sourceTypeId']) =>
  ({ sourceTypeId }: Entry): boolean =>
    sourceTypeId === kind
