// MESSAGE_RELAY: sends one message to the other party of a conversation, or a notice to a neighbour.
import { cancel, type JobContext, type Outcome } from 'millrace'
import type { VillageParts } from '../village-parts.ts'
import { markSent, markUndeliverable, messageOf } from './message-store.ts'
import { type RelayedMail, relayedMail } from './relayed-mail.ts'
import { type Refused, sendMail } from './smtp.ts'

export class MessageRelay {
  readonly #parts: VillageParts

  constructor(parts: VillageParts) {
    this.#parts = parts
  }

  async run(
    { message_id: id }: { readonly message_id: string },
    ctx: JobContext,
  ): Promise<{ smtp_message_id: string } | Outcome> {
    const { database, config } = this.#parts
    const message = await messageOf(database, id)
    if (message === undefined) return cancel(`There is no message ${id}.`)
    if (message.status === 'undeliverable') return cancel('The message was undeliverable before.')
    const mail = relayedMail(message, config.mail.relayDomain)
    if (message.status === 'sent') return { smtp_message_id: mail.messageId }
    // A retry does not send again what was sent. Every attempt has the same Message-ID.
    const outcome = await ctx.step('send', () => this.#send(mail, ctx))
    return ctx.transaction(async (tx) => {
      if (outcome === null) {
        await markSent(tx, id)
        return { smtp_message_id: mail.messageId }
      }
      // A mistyped address pages nobody.
      await markUndeliverable(tx, id, outcome.refused)
      return cancel(`The mail server refused the recipient: ${outcome.refused}`)
    })
  }

  async #send(mail: RelayedMail, ctx: JobContext): Promise<Refused | null> {
    const { outside } = this.#parts
    return (await ctx.breaker('smtp', () => sendMail(outside.addresses.smtp.url, mail))) ?? null
  }
}
