// Mailboxes: every mail that the sandbox was given, by recipient. IMAP shows the same mails as folders of accounts.
import PostalMime from 'postal-mime'
import { Account } from './folders.ts'

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

export interface Envelope {
  readonly from: string
  readonly to: readonly string[]
}

interface MailboxOptions {
  /** Whose account takes the mail of an address: a domain may have one for all its addresses. Default: its own. */
  readonly accountOf?: (address: string) => string
}

const KEPT = 200

export class Mailboxes {
  /** Newest first. */
  readonly mails: Mail[] = []
  readonly #accountOf: (address: string) => string
  readonly #accounts = new Map<string, Account>()
  readonly #listeners = new Set<(mail: Mail) => void>()
  /** Numbers of folders begin anew with each start, so their validity does too. */
  readonly #uidValidity = Math.floor(Date.now() / 1_000)

  constructor({ accountOf = (address) => address }: MailboxOptions = {}) {
    this.#accountOf = accountOf
  }

  async deliver(raw: Buffer, { from, to }: Envelope): Promise<void> {
    const { subject = '', text = '', messageId = '' } = await new PostalMime().parse(raw)
    const at = new Date().toISOString()
    for (const each of to) {
      // As a mail server does at delivery: which address, and who it says it comes from.
      const delivered = Buffer.concat([Buffer.from(`Return-Path: <${from}>\r\nDelivered-To: ${each}\r\n`), raw])
      this.account(this.#accountOf(each)).inbox.add(delivered)
      const known = messageId === '' ? undefined : this.of(each).find((mail) => mail.messageId === messageId)
      if (known !== undefined) {
        known.deliveries += 1
        continue
      }
      const mail = { at, to: each, from, subject, text, messageId, raw: raw.toString(), deliveries: 1 }
      this.mails.unshift(mail)
      for (const listener of this.#listeners) listener(mail)
    }
    this.mails.length = Math.min(this.mails.length, KEPT)
  }

  of(address: string): Mail[] {
    return this.mails.filter(({ to }) => to === address)
  }

  /** Made at the first mail or login. */
  account(name: string): Account {
    const known = this.#accounts.get(name)
    if (known !== undefined) return known
    const account = new Account(this.#uidValidity)
    this.#accounts.set(name, account)
    return account
  }

  /** Calls back with each mail that arrives, until the answer is called. */
  onDelivered(listener: (mail: Mail) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
