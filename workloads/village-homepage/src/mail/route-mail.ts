// Where a mail goes: to the other party of its conversation, or nowhere, with the reason.
import type { IncomingMail } from './incoming-mail.ts'

/** The conversation that a masked address names, and the party that it stands for. */
export interface Conversation {
  readonly id: string
  readonly direction: 'to_seller' | 'to_buyer'
  /** The real address of the other party: only they may write to this one. */
  readonly writer: string
  readonly listing: string
  /** Of the last hour, in both directions. */
  readonly messages: number
}

export type Route =
  | { readonly outcome: 'relayed'; readonly subject: string; readonly reason?: undefined }
  | { readonly outcome: 'quarantined' | 'bounced'; readonly reason: string }

/** One conversation has no more in an hour: two answering machines must not talk for ever. */
export const MOST_IN_AN_HOUR = 20

const MOST_SUBJECT = 500

/** The token of the masked address that it was sent to; undefined: there is none. */
export function tokenOf({ to }: Pick<IncomingMail, 'to'>, domain: string): string | undefined {
  const end = `@${domain.toLowerCase()}`
  const found = to.find((address) => address.startsWith('m-') && address.endsWith(end))
  return found?.slice(2, -end.length)
}

export function routeOf(mail: IncomingMail, conversation: Conversation | undefined): Route {
  const { automatic, from, subject, text, attachments } = mail
  // A program that answers a program would never end.
  if (automatic !== undefined) return { outcome: 'bounced', reason: automatic }
  const quarantined = (reason: string): Route => ({ outcome: 'quarantined', reason })
  if (conversation === undefined) return quarantined('It is sent to no masked address of a conversation.')
  if (from.length !== 1) return quarantined('It names more than one sender, or none.')
  if (from[0] !== conversation.writer) return quarantined('Its sender is not a party of the conversation.')
  if (mail.isForged) return quarantined('The mail server found that its sender is forged (dmarc=fail).')
  if (/\p{Cc}/u.test(subject)) return quarantined('Its subject has a line break or another control character.')
  if (text === '' && attachments.length === 0) return quarantined('It has no text.')
  if (conversation.messages >= MOST_IN_AN_HOUR)
    return quarantined(`The conversation has had ${MOST_IN_AN_HOUR} messages within an hour.`)
  return { outcome: 'relayed', subject: subject.slice(0, MOST_SUBJECT).toWellFormed() || `Re: ${conversation.listing}` }
}
