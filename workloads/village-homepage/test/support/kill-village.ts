// Workers that are killed at moments that nobody chose while they do one of everything.
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../../../packages/engine/test/support/setup.ts'
import { setup, type Village } from './setup.ts'
import { enqueueAll, seedVillage, startWorker, undone } from './whole-village.ts'

/** Milliseconds after a worker has begun. */
const KILL_WITHIN_MS = 2_500
/** The neighbour has answered by then. */
const ANSWERS_AFTER_MS = 300

export async function killedVillage(kills: number): Promise<Village> {
  const t = await setup({ sandbox: { answersAfterMs: ANSWERS_AFTER_MS, latencyMs: 20 } })
  await seedVillage(t)
  await enqueueAll(t)
  let next = startWorker(t)
  for (let i = 0; i < kills; i++) {
    const worker = await next
    // It is ready soon after the kill.
    next = startWorker(t)
    await sleep(Math.random() * KILL_WITHIN_MS) // the moment is the test
    worker.signalGroup('SIGKILL')
    await worker.ended()
  }
  await next
  const isDone = async () => (await undone(t)).length === 0
  await eventually(isDone, 90_000)
  // Whatever the neighbours have answered is there by now: it waits in the mailbox, and the schedule comes once a minute.
  await t.sandbox.received.until(() => t.sandbox.mailboxes.account('relay').inbox.mails.length + taken(t) >= 2)
  await t.millrace.enqueue(t.parts.contracts.INBOUND_EMAIL, {})
  await eventually(isDone, 60_000)
  return t
}

const taken = (t: Village): number => t.sandbox.mailboxes.account('relay').folder('Processed')?.mails.length ?? 0
