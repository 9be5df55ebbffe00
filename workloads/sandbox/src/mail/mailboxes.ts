// Mailboxes: every mail that the sandbox was given, by recipient.
import PostalMime from 'postal-mime'

export interface Mail {
  readonly at: string
  readonly to: string
  readonly from: string
  readonly subject: string
  readonly text: string
  readonly messageId: string
  /** As it was sent, headers included. */
  readonly raw: string
  /** Times that it came. A mail program shows a repeated Message-ID once. */
  deliveries: number
}

const KEPT = 200

export class Mailboxes {
  /** Newest first. */
  readonly mails: Mail[] = []

  async deliver(raw: Buffer, { from, to }: { from: string; to: readonly string[] }): Promise<void> {
    const { subject = '', text = '', messageId = '' } = await new PostalMime().parse(raw)
    const at = new Date().toISOString()
    for (const each of to) {
      const known = messageId === '' ? undefined : this.of(each).find((mail) => mail.messageId === messageId)
      if (known !== undefined) known.deliveries += 1
      else this.mails.unshift({ at, to: each, from, subject, text, messageId, raw: raw.toString(), deliveries: 1 })
    }
    this.mails.length = Math.min(this.mails.length, KEPT)
  }

  of(address: string): Mail[] {
    return this.mails.filter(({ to }) => to === address)
  }
}
