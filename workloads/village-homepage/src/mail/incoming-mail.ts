// A mail as it came, reduced to what decides where it goes.
import PostalMime, { type Address, type Email } from 'postal-mime'
import { plainText } from '../feeds/entry-text.ts'

export interface IncomingMail {
  /** Its Message-ID; without one, a hash of its text. */
  readonly headerId: string
  /** In small letters. None, if there are several headers of that name. */
  readonly from: readonly string[]
  /** Where it was delivered, most certain first. */
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly attachments: readonly string[]
  /** Why it was sent by a program; undefined: a person wrote it. */
  readonly automatic: string | undefined
  /** Of the mails that it says were not delivered. */
  readonly undelivered: readonly string[]
  /** Whether the mail server found that it does not come from the domain that it names. */
  readonly isForged: boolean
}

const MOST_TEXT = 300_000
const MOST_ATTACHMENTS = 20
const MOST_NAME = 100
const LIMITS = { maxNestingDepth: 50, maxHeadersSize: 256 * 1024 }

export async function incomingMail(raw: Buffer, headerId: string): Promise<IncomingMail> {
  const mail = await new PostalMime({ ...LIMITS, forceRfc822Attachments: true }).parse(raw)
  const automatic = automaticOf(mail)
  return {
    headerId,
    from: valuesOf(mail, 'from').length === 1 ? addressesOf([mail.from]) : [],
    to: [
      ...DELIVERED.flatMap((name) => valuesOf(mail, name)),
      ...addressesOf([...(mail.to ?? []), ...(mail.cc ?? [])]),
    ].map((address) => address.trim().replace(/^<|>$/g, '').toLowerCase()),
    subject: (mail.subject ?? '').trim(),
    text: textOf(mail),
    attachments: mail.attachments
      .slice(0, MOST_ATTACHMENTS)
      .map(({ filename }) => clean(filename ?? 'without a name').slice(0, MOST_NAME)),
    automatic,
    undelivered: automatic === undefined ? [] : undeliveredOf(raw),
    isForged: valuesOf(mail, 'authentication-results').some((value) => /\bdmarc=fail\b/i.test(value)),
  }
}

const DELIVERED = ['delivered-to', 'x-original-to', 'envelope-to']

const valuesOf = ({ headers }: Email, name: string): string[] =>
  headers.flatMap(({ key, value }) => (key === name ? value : []))

/** A group has addresses of its own. */
const addressesOf = (list: readonly (Address | undefined)[]): string[] =>
  list.flatMap((each) => {
    if (each === undefined) return []
    return each.group === undefined ? [each.address?.toLowerCase() ?? ''] : addressesOf(each.group)
  })

/** RFC 3834: programs say so, and a bounce has no sender. */
function automaticOf(mail: Email): string | undefined {
  const submitted = valuesOf(mail, 'auto-submitted').find((value) => !/^\s*no\b/i.test(value))
  if (submitted !== undefined) return `Auto-Submitted: ${submitted.slice(0, 100)}`
  if (valuesOf(mail, 'return-path').some((value) => /^\s*<\s*>/.test(value)))
    return 'It has no sender, as bounces have.'
  const type = valuesOf(mail, 'content-type')[0] ?? ''
  if (/^\s*multipart\/report\b/i.test(type)) return 'It is a report.'
  const precedence = valuesOf(mail, 'precedence').find((value) => /^\s*(bulk|junk|list|auto_reply)\b/i.test(value))
  return precedence === undefined ? undefined : `Precedence: ${precedence.slice(0, 100)}`
}

/** A report has the headers of the mail that it is about. */
function undeliveredOf(raw: Buffer): string[] {
  const text = raw.toString('latin1')
  if (!/^Action:\s*failed\b/im.test(text)) return []
  return [...text.matchAll(/^(?:Original-)?Message-ID:\s*<([^<>\s]{1,200})>/gim)].map(([, id = '']) => id)
}

function textOf({ text, html }: Email): string {
  const plain = text?.trim()
    ? text.slice(0, MOST_TEXT)
    : (plainText({ value: html?.slice(0, MOST_TEXT) ?? '', kind: 'html' }, MOST_TEXT) ?? '')
  return plain.replaceAll('\0', '').toWellFormed().trim()
}

/** Without line breaks and other control characters. */
const clean = (name: string): string =>
  name
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed()
    .trim() || 'without a name'
