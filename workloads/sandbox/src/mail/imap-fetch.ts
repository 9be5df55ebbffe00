// FETCH: which parts of a mail a client asks for, and how the answer is written.

import type { StoredMail } from './folders.ts'
import { type Argument, BadCommand } from './imap-command.ts'

const MACROS: Readonly<Record<string, readonly string[]>> = {
  FAST: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE'],
}

const BODY = /^(BODY|BODY\.PEEK)\[([^\]]*)\](?:<(\d+)\.(\d+)>)?$/i

/** The answer for one mail, as the bytes between the parentheses. */
export function fetched(mail: StoredMail, asked: Argument | undefined, { withUid }: { withUid: boolean }): Buffer {
  const items = typeof asked === 'string' ? (MACROS[asked.toUpperCase()] ?? [asked]) : (asked ?? [])
  const names = items.map((item) => {
    if (typeof item !== 'string') throw new BadCommand('Expected names of items.')
    return item
  })
  const all = withUid && !names.some((name) => name.toUpperCase() === 'UID') ? ['UID', ...names] : names
  // A body that is not peeked at is read.
  if (all.some((name) => /^(BODY\[|RFC822$|RFC822\.TEXT$)/i.test(name))) mail.flags.add('\\Seen')
  return Buffer.concat(all.flatMap((name, i) => [Buffer.from(i === 0 ? '' : ' '), answerTo(mail, name)]))
}

function answerTo(mail: StoredMail, item: string): Buffer {
  const name = item.toUpperCase()
  if (name === 'UID') return Buffer.from(`UID ${mail.uid}`)
  if (name === 'FLAGS') return Buffer.from(`FLAGS (${[...mail.flags].join(' ')})`)
  if (name === 'RFC822.SIZE') return Buffer.from(`RFC822.SIZE ${mail.raw.length}`)
  if (name === 'INTERNALDATE') return Buffer.from(`INTERNALDATE "${dateOf(mail.at)}"`)
  if (name === 'RFC822') return literal('RFC822', mail.raw)
  if (name === 'RFC822.HEADER') return literal('RFC822.HEADER', headerOf(mail))
  if (name === 'RFC822.TEXT') return literal('RFC822.TEXT', textOf(mail))
  const [, , section, from, length] = BODY.exec(item) ?? []
  if (section === undefined) throw new BadCommand(`The sandbox does not answer ${item}.`)
  const whole = sectionOf(mail, section)
  if (from === undefined) return literal(`BODY[${section}]`, whole)
  return literal(`BODY[${section}]<${from}>`, whole.subarray(Number(from), Number(from) + Number(length)))
}

function sectionOf(mail: StoredMail, section: string): Buffer {
  const name = section.toUpperCase()
  if (name === '') return mail.raw
  if (name === 'HEADER') return headerOf(mail)
  if (name === 'TEXT') return textOf(mail)
  const fields = /^HEADER\.FIELDS(\.NOT)? \(([^)]*)\)$/.exec(name)
  if (fields === null) throw new BadCommand(`The sandbox has no section ${section}.`)
  const [, not, list = ''] = fields
  const wanted = new Set(list.split(' ').map((each) => each.replaceAll('"', '')))
  const kept = headersOf(mail).filter(({ name: field }) => wanted.has(field.toUpperCase()) === (not === undefined))
  return Buffer.from(`${kept.map(({ text }) => text).join('')}\r\n`, 'latin1')
}

/** With the empty line after it. */
function headerOf({ raw }: StoredMail): Buffer {
  const end = raw.indexOf('\r\n\r\n')
  return end === -1 ? raw : raw.subarray(0, end + 4)
}

const textOf = (mail: StoredMail): Buffer => mail.raw.subarray(headerOf(mail).length)

/** Header fields as they stand, folded lines included. */
export function headersOf(mail: StoredMail): { name: string; text: string }[] {
  const unfolded = headerOf(mail)
    .toString('latin1')
    .split(/\r\n(?![ \t])/)
  return unfolded.flatMap((field) => {
    const colon = field.indexOf(':')
    return colon === -1 ? [] : { name: field.slice(0, colon).trim(), text: `${field}\r\n` }
  })
}

const literal = (name: string, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${name} {${value.length}}\r\n`), value])

/** '19-Nov-2026 20:15:00 +0000' */
function dateOf(at: Date): string {
  const [, day, month, year, time] = at.toUTCString().split(' ')
  return `${day}-${month}-${year} ${time} +0000`
}
