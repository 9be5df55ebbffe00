// The mail that a message becomes: masked, text only, with nothing of the headers it came with.
import { Unrecoverable } from 'millrace'
import { type Mask, masked, maskedAddress } from './mask.ts'
import type { Message } from './message-store.ts'

export interface RelayedMail {
  readonly messageId: string
  readonly from: { readonly name: string; readonly address: string }
  readonly to: string
  readonly subject: string
  readonly text: string
}

const MOST_BYTES = 256 * 1024

export function relayedMail(message: Message, domain: string): RelayedMail {
  const { id, recipient } = message
  const masks = masksOf(message, domain)
  const attached = message.attachments.map((name) => `[The attachment "${name}" was not passed on.]`)
  const from = senderOf(message, domain)
  return {
    messageId: `<${id}@${domain}>`,
    from: { name: headerValue(masked(from.name, masks), 'name of the sender'), address: from.address },
    to: headerValue(recipient, 'address of the recipient'),
    subject: headerValue(masked(message.subject, masks), 'subject'),
    text: masked([cut(message.body), ...attached].join('\n\n'), masks),
  }
}

/** The reply goes to the masked address: it stands for the party that wrote. */
function senderOf(message: Message, domain: string): RelayedMail['from'] {
  if (message.direction === 'notice') return { name: 'Village', address: `village@${domain}` }
  const { buyerName, buyerToken, sellerName, sellerToken } = message
  const [name, token] = message.direction === 'to_seller' ? [buyerName, buyerToken] : [sellerName, sellerToken]
  return { name: `${name} via Village`, address: maskedAddress(token, domain) }
}

function masksOf(message: Message, domain: string): Mask[] {
  if (message.direction === 'notice') return []
  const { buyerEmail, buyerToken, sellerEmail, sellerToken } = message
  const masks = [
    { real: buyerEmail, masked: maskedAddress(buyerToken, domain) },
    { real: sellerEmail, masked: maskedAddress(sellerToken, domain) },
  ]
  // One address may end with the other: the longer one first.
  return masks.sort((a, b) => b.real.length - a.real.length)
}

/** A line break would begin a header of the writer's own. */
function headerValue(value: string, what: string): string {
  if (/[\r\n\0]/.test(value))
    throw new Unrecoverable(`The ${what} of the message has a line break or NUL: it is not sent.`)
  return value
}

function cut(body: string): string {
  const bytes = Buffer.from(body)
  if (bytes.length <= MOST_BYTES) return body
  // Not within a character: what is left of one becomes the sign for it, and goes.
  return `${bytes
    .subarray(0, MOST_BYTES)
    .toString()
    .replace(/\ufffd+$/, '')}\n\n[The rest was not passed on.]`
}
