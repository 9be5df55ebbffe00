// `produce-reminders`: enqueues a mail for every due reminder, a page at a time.
//
// A page is one transaction, so a reminder is `queued` exactly if its mail exists. If the run dies between pages, the next
// one takes the rest.
import { type Implementation, implement, type JobContext } from 'millrace'
import { email, produceReminders } from '../contracts.ts'
import { takeDueReminders } from '../registry/reminders.ts'
import type { LipasSystem } from '../system.ts'

const PAGE = 200

export const produceRemindersHandler = (system: LipasSystem): Implementation =>
  implement(produceReminders, async (_payload, ctx) => {
    let produced = 0
    for (;;) {
      ctx.signal.throwIfAborted()
      const count = await producePage(system, ctx)
      produced += count
      ctx.progress(produced)
      if (count < PAGE) return { produced }
    }
  })

function producePage({ database, clock, millrace }: LipasSystem, ctx: JobContext): Promise<number> {
  return database.transaction(async (tx) => {
    const due = await takeDueReminders(tx, clock.now(), PAGE)
    const payloads = due.map(({ id, email: to }) => ({ to, type: 'reminder' as const, 'reminder-id': id }))
    const { correlationId, jobId: parentJobId } = ctx
    if (payloads.length > 0) await millrace.enqueueMany(email, payloads, { tx, correlationId, parentJobId })
    return due.length
  })
}
