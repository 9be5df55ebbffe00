// Whether people are told: an outbox that no worker delivers is silence, which looks like all is well.
import { escalationStanding } from '../store/escalations.ts'
import { type Check, type Complaint, degraded, failing } from './check.ts'
import { counted, span } from './words.ts'

/** A delivery that is under way, or tried again, is no reason to complain. */
const LATE_MS = 5 * 60_000

export const escalations: Check = {
  name: 'escalations',
  area: 'services',
  async look({ db, clock, vitals }) {
    const { unsent, oldestUnsentAt, undeliverable, overdue, deliverers } = await escalationStanding(
      db,
      clock.databaseNow(),
    )
    const waitedMs = oldestUnsentAt === null ? 0 : vitals.at.getTime() - oldestUnsentAt.getTime()
    const waiting = `${counted(unsent, 'escalation')} ${unsent === 1 ? 'waits' : 'wait'}`
    const complaints: Complaint[] = []
    if (unsent > 0 && deliverers === 0)
      complaints.push(
        failing(
          `${waiting}, and no worker delivers them: nobody is told.`,
          'Start a worker whose workload has an escalation, or take `escalation` from the queues.',
        ),
      )
    else if (waitedMs > LATE_MS)
      complaints.push(
        degraded(
          `${waiting}, the oldest for ${span(waitedMs)}: its channel does not take it.`,
          'See why: `millrace escalations --state undelivered`. It is tried again until it arrives.',
        ),
      )
    if (undeliverable > 0)
      complaints.push(
        degraded(
          `${counted(undeliverable, 'escalation')} ${undeliverable === 1 ? 'was' : 'were'} refused by the channel.`,
          'Correct its address or key, then `millrace escalations resend ID`. The reason: `millrace escalations --state undelivered`.',
        ),
      )
    if (overdue > 0)
      complaints.push(
        degraded(
          `${counted(overdue, 'escalation')} ${overdue === 1 ? 'is' : 'are'} overdue: nobody has acknowledged them in time.`,
          'Look at them: `millrace escalations --state overdue`; `millrace escalations acknowledge ID` says that somebody does.',
        ),
      )
    return { fine: unsent === 0 ? 'No escalation waits.' : `${waiting} to be delivered.`, complaints }
  },
}
