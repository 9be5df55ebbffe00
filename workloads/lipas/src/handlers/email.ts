// `email`: sends one mail. A reminder is sent only while it is open, and becomes `sent` with the job.
import { cancel, type Implementation, implement, type JobContext, type PayloadOutput } from 'millrace'
import { email, services } from '../contracts.ts'
import { domainOf, type Mail } from '../mail/emailer.ts'
import { reminderLetter } from '../mail/reminder-letter.ts'
import { isOpen, markReminderSent, reminderOf } from '../registry/reminders.ts'
import type { LipasSystem } from '../system.ts'
import { mailsCounted } from '../telemetry/metrics.ts'

type Payload = PayloadOutput<typeof email>

export const emailHandler = (system: LipasSystem): Implementation =>
  implement(email, async (payload, ctx) => {
    const { type: kind, 'reminder-id': reminderId } = payload
    const letter = await letterOf(system, payload)
    if (letter === undefined) return cancel('The reminder is no longer open.')
    // The same in every attempt: a mail server that got it before shows one.
    const messageId = `<job-${ctx.jobId}@${domainOf(system.addresses.mail.from)}>`
    ctx.log.info({ domain: domainOf(payload.to), kind }, 'sending a mail')
    await ctx.step('send', () => send(system, { ...letter, messageId, to: payload.to }, { kind, ctx }))
    return ctx.transaction(async (tx) => {
      if (reminderId !== undefined) await markReminderSent(tx, reminderId)
      return { 'message-id': messageId, kind }
    })
  })

/** Undefined: it is a reminder that was settled in the meantime. */
async function letterOf(
  system: LipasSystem,
  { subject, body, 'reminder-id': id }: Payload,
): Promise<Pick<Mail, 'subject' | 'text'> | undefined> {
  if (id === undefined) return { subject, text: body }
  const reminder = await reminderOf(system.database, id)
  return reminder === undefined || !isOpen(reminder) ? undefined : reminderLetter(reminder, system.publicUrl)
}

async function send(
  system: LipasSystem,
  mail: Mail,
  { kind, ctx }: { kind: Payload['type']; ctx: JobContext },
): Promise<null> {
  try {
    await ctx.breaker(services.email, () => system.emailer.send(mail))
    mailsCounted.inc({ kind, outcome: 'sent' })
    return null
  } catch (error) {
    mailsCounted.inc({ kind, outcome: (error as Error).name === 'Unrecoverable' ? 'refused' : 'failed' })
    throw error
  }
}
