// INBOUND_EMAIL: takes the mails that have come to masked addresses, and passes each on to the other party. Each is stored in one
// transaction with the job that relays it, and moved out of the mailbox after that: a run that dies between is made good by the next.
import { createHash } from 'node:crypto'
import type { JobContext, Queryable } from 'millrace'
import type { VillageParts } from '../village-parts.ts'
import { type Mailbox, type MailHead, openMailbox } from './imap.ts'
import {
  addReply,
  conversationOf,
  keepMail,
  lastUid,
  type MailboxState,
  markBounced,
  markDuplicate,
  markMoved,
  notMoved,
  type Outcome,
} from './inbound-store.ts'
import { type IncomingMail, incomingMail } from './incoming-mail.ts'
import { addNotices, inSubject } from './notice.ts'
import { type Conversation, routeOf, tokenOf } from './route-mail.ts'

const AT_ONCE = 50
const MOST_BYTES = 1024 * 1024
const FOLDERS: Readonly<Record<Outcome, string>> = {
  relayed: 'Processed',
  duplicate: 'Processed',
  bounced: 'Processed',
  quarantined: 'Quarantine',
}
const UUID = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})@(.+)$/i

interface Result {
  fetched: number
  relayed: number
  quarantined: number
  bounced: number
}

/** A mail with its number, or why it is not looked at. */
type Arrived = { readonly uid: number } & (
  | { readonly mail: IncomingMail }
  | { readonly headerId: string; readonly refused: string }
)

export class InboundEmail {
  readonly #parts: VillageParts

  constructor(parts: VillageParts) {
    this.#parts = parts
  }

  async run({ mailbox = 'INBOX' }: { readonly mailbox?: string | undefined }, ctx: JobContext): Promise<Result> {
    const { database, outside } = this.#parts
    const { url } = outside.addresses.imap
    const inbox = await ctx.breaker('imap', () => openMailbox(url, mailbox, ctx.signal))
    const result: Result = { fetched: 0, relayed: 0, quarantined: 0, bounced: 0 }
    try {
      const state = { mailbox, uidValidity: inbox.uidValidity }
      await this.#moveOut(inbox, state)
      const uids = (await inbox.uidsAfter(await lastUid(database, state))).slice(0, AT_ONCE)
      const heads = (await inbox.heads(uids)).sort((a, b) => a.uid - b.uid)
      for (const head of heads) {
        ctx.signal.throwIfAborted()
        const arrived = await this.#arrived(inbox, head, ctx)
        if (arrived === undefined) continue
        const outcome = await database.transaction((tx) => this.#take(tx, { arrived, state, ctx }))
        if (outcome === undefined) continue
        result.fetched += 1
        if (outcome !== 'duplicate') result[outcome] += 1
        ctx.progress(result.fetched, heads.length)
      }
      await this.#moveOut(inbox, state)
      return result
    } finally {
      await inbox.close()
    }
  }

  /** Undefined: somebody has taken it out of the mailbox. */
  async #arrived(inbox: Mailbox, { uid, bytes, messageId }: MailHead, ctx: JobContext): Promise<Arrived | undefined> {
    if (bytes > MOST_BYTES)
      return { uid, headerId: messageId ?? `uid:${uid}`, refused: `It has ${bytes} bytes, and 1 MB is the most.` }
    const raw = await inbox.source(uid, MOST_BYTES)
    if (raw === undefined) return undefined
    const headerId = messageId ?? `hash:${createHash('sha256').update(raw).digest('hex')}`
    try {
      return { uid, mail: await incomingMail(raw, headerId.slice(0, 500)) }
    } catch (error) {
      ctx.log.warn({ err: error, uid }, 'a mail cannot be read')
      return { uid, headerId, refused: `It cannot be read: ${error instanceof Error ? error.message : String(error)}` }
    }
  }

  /** Undefined: another run has taken it. */
  async #take(
    tx: Queryable,
    { arrived, state, ctx }: { arrived: Arrived; state: MailboxState; ctx: JobContext },
  ): Promise<Outcome | undefined> {
    const { uid } = arrived
    if ('refused' in arrived) {
      const { headerId, refused: reason } = arrived
      ctx.log.warn({ uid, reason }, 'a mail was quarantined')
      return (await keepMail(tx, state, { uid, headerId, outcome: 'quarantined', reason })) ? 'quarantined' : undefined
    }
    const { mail } = arrived
    const { config, clock } = this.#parts
    const token = tokenOf(mail, config.mail.relayDomain)
    const conversation = token === undefined ? undefined : await conversationOf(tx, token, clock.now())
    const route = routeOf(mail, conversation)
    const kept = { uid, headerId: mail.headerId, outcome: route.outcome, reason: route.reason }
    if (!(await keepMail(tx, state, kept))) return undefined
    if (route.outcome !== 'relayed') {
      ctx.log.warn({ uid, outcome: route.outcome, reason: route.reason }, 'a mail was not relayed')
      await this.#tellWriters(tx, { mail, conversation, ctx })
      return route.outcome
    }
    const id = await addReply(tx, conversation as Conversation, {
      subject: route.subject,
      mail,
      token: token as string,
    })
    if (id === undefined) {
      await markDuplicate(tx, state, uid)
      return 'duplicate'
    }
    await this.#relay(tx, { message_id: id, conversation_id: (conversation as Conversation).id }, ctx)
    return 'relayed'
  }

  /** Whoever wrote a message that has bounced learns it once. A notice that bounces tells nobody. */
  async #tellWriters(
    tx: Queryable,
    { mail, conversation, ctx }: { mail: IncomingMail; conversation: Conversation | undefined; ctx: JobContext },
  ): Promise<void> {
    const ids = mail.undelivered.flatMap((id) => {
      const [, message, domain] = UUID.exec(id) ?? []
      return message !== undefined && domain === this.#parts.config.mail.relayDomain ? message : []
    })
    if (ids.length === 0) return
    const problem = 'It came back: the mail server of the recipient did not take it.'
    const bounced = await markBounced(tx, ids, { conversationId: conversation?.id, problem })
    const notices = bounced.flatMap(({ writerId, listing }) =>
      writerId === null ? [] : { recipientId: writerId, kind: 'undeliverable', ...undeliverable(listing ?? '') },
    )
    for (const message_id of await addNotices(tx, notices)) await this.#relay(tx, { message_id }, ctx)
  }

  async #relay(
    tx: Queryable,
    payload: { message_id: string; conversation_id?: string },
    ctx: JobContext,
  ): Promise<void> {
    await ctx.enqueue(this.#parts.contracts.MESSAGE_RELAY, payload, { tx })
  }

  /** What is stored, by this run or by one that ended before it could. */
  async #moveOut(inbox: Mailbox, state: MailboxState): Promise<void> {
    const stored = await notMoved(this.#parts.database, state)
    for (const folder of new Set(Object.values(FOLDERS))) {
      const uids = stored.flatMap(({ uid, outcome }) => (FOLDERS[outcome] === folder ? uid : []))
      if (uids.length === 0) continue
      await inbox.move(uids, folder)
      await markMoved(this.#parts.database, state, uids)
    }
  }
}

const undeliverable = (listing: string) => ({
  subject: `Your message about ${inSubject(listing)} was not delivered`,
  body: `The mail server of your neighbour did not take your message about "${listing}". You may write again later.\n`,
})
