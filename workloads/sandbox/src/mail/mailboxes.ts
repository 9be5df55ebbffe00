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
}

const KEPT = 200

export class Mailboxes {
  /** Newest first. */
  readonly mails: Mail[] = []

  async deliver(raw: Buffer, { from, to }: { from: string; to: readonly string[] }): Promise<void> {
    const { subject = '', text = '', messageId = '' } = await new PostalMime().parse(raw)
    const at = new Date().toISOString()
    this.mails.unshift(...to.map((each) => ({ at, to: each, from, subject, text, messageId, raw: raw.toString() })))
    this.mails.length = Math.min(this.mails.length, KEPT)
  }

  of(address: string): Mail[] {
    return this.mails.filter(({ to }) => to === address)
  }
}
