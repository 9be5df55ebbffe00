// Which failures are the same failure? A short hash of what stays when the same code fails again, elsewhere, for
// another customer: the error's class, the shape of its message, and where it was thrown.
//
// Pure, linear in the length of the text, and total: recording a failure must never fail.
import { createHash } from 'node:crypto'

const LENGTH = 12
const MAX_SHAPE = 300
const FRAMES = 3

export interface Described {
  class: string
  message: string
  stack: string | null
}

export function fingerprintOf({ class: name, message, stack }: Described): string {
  const parts = [name, messageShape(message), ...topFrames(stack ?? '', message)]
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, LENGTH)
}

/** What varies from case to case, in this order: an id in a URL is part of the URL, a date in quotes part of the quote. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  // An apostrophe inside a word neither opens nor closes a quotation.
  [/"[^"\n]{0,1000}"|`[^`\n]{0,1000}`|(?<!\w)'(?:[^'\n]|'(?=\w)){0,1000}'(?!\w)/g, '<text>'],
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/\S+/gi, '<url>'],
  [/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g, '<email>'],
  // As Date prints itself.
  [
    /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:[A-Z][a-z]{2} \d\d?|\d\d? [A-Z][a-z]{2}) \d{4}(?: \d\d:\d\d:\d\d)?(?: GMT(?:[+-]\d{4})?)?(?: \([^)\n]{1,60}\))?/g,
    '<n>',
  ],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.]*(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?/g, '<n>'],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, '<n>'],
  // Directories differ from machine to machine; the file's name stays.
  [/(?<![\w.<>])(?:[a-z]:)?[\\/](?:[^\s\\/:'"()]{1,255}[\\/])+/gi, ''],
  // Any word with a digit in it is an id, a number, an address or a time.
  [/[-+]?\b\w*\d[\w.,:+-]*/g, '<n>'],
  // A hash may have no digit.
  [/\b[a-f]{8,}\b/gi, '<n>'],
  [/\s+/g, ' '],
  // How many there were says nothing about why.
  [/<n>(?:[ ,;]{1,3}<n>)+/g, '<n>'],
]

function messageShape(message: string): string {
  return VARYING.reduce((shape, [pattern, name]) => shape.replace(pattern, name), message).slice(0, MAX_SHAPE)
}

const FRAME = /^\s+at (?:async )?(?:(.{1,300}?) \()?(.{1,2000}?)\)?$/gm
const INTERNAL = /^(?:node:|internal\/|native|index \d|<anonymous>|eval at )/

/** The innermost frames as `function@file`. No line numbers: they move with every edit above them. */
function topFrames(stack: string, message: string): string[] {
  const header = stack.indexOf(message)
  const frames: string[] = []
  // A message may quote another stack, which is not where this error was thrown.
  for (const [, name, place = ''] of stack.slice(header < 0 ? 0 : header + message.length).matchAll(FRAME)) {
    if (INTERNAL.test(place)) continue
    const frame = `${functionName(name)}@${fileName(place)}`
    // A recursion is as deep as its data.
    if (frame !== frames.at(-1)) frames.push(frame)
    if (frames.length === FRAMES) break
  }
  return frames
}

/** `Object.send [as alias]` is `send`: how a function was reached is not where it stands. */
function functionName(name: string | undefined): string {
  if (name === undefined) return ''
  const plain = name.replace(/ \[as .*$/, '').replace(/^(?:Object|Module|process)\./, '')
  return plain === '<anonymous>' || plain === 'eval' ? '' : plain
}

/** Without directory, extension, query, line and column: `/srv/app/dist/mail.js:12:7` and `C:\app\src\mail.ts:9:3` are `mail`. */
function fileName(place: string): string {
  const path = place.replace(/(?::\d+){1,2}$/, '').replace(/[?#].*$/, '')
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).replace(/\.[cm]?[jt]sx?$/, '')
}
