// `dartwing_core.email.send`: hands one mail to the mail server.
import { cancel, type Implementation, implement, Unrecoverable } from 'millrace'
import { sendEmail, smtp } from '../contracts/default.ts'
import { orgContext } from '../organization/org-context.ts'
import type { DartwingSystem } from '../system.ts'
import { domainOf } from './answers.ts'
import { emailEnd, emailGet } from './email-store.ts'

export const sendEmailHandler = (system: DartwingSystem): Implementation =>
  implement(sendEmail, async ({ email: id }, ctx) => {
    const email = await orgContext(ctx, (tx) => emailGet(tx, ctx, id))
    if (email.suppressedBecause !== null) {
      await orgContext(ctx, (tx) => emailEnd(tx, id, 'suppressed'))
      return cancel(`The recipient wants no mail: ${email.suppressedBecause}`)
    }
    const { to, subject, body: text } = email
    const messageId = `<email-${id}@${system.emailer.domain}>`
    ctx.log.info({ domain: domainOf(to) }, 'sending a mail')
    try {
      await ctx.step(`send:${ctx.jobId}`, async () => {
        await ctx.breaker(smtp, () => system.emailer.send({ messageId, to, subject, text }, ctx.signal))
        return null
      })
    } catch (error) {
      if (error instanceof Unrecoverable) await orgContext(ctx, (tx) => emailEnd(tx, id, 'refused'))
      throw error
    }
    return orgContext(
      ctx,
      async (tx) => {
        await emailEnd(tx, id, 'sent')
        return { messageId, accepted: true }
      },
      { complete: true },
    )
  })
