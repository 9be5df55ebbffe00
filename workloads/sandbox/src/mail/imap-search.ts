// SEARCH: which mails of a folder a client looks for.

import type { StoredMail } from './folders.ts'
import { type Argument, BadCommand, numbersOf } from './imap-command.ts'
import { headersOf } from './imap-fetch.ts'

/** A mail with its place in the folder, counted from 1. */
export interface Placed {
  readonly mail: StoredMail
  readonly place: number
}

type Test = (placed: Placed) => boolean

export interface SearchLimits {
  readonly lastPlace: number
  readonly lastUid: number
}

export function searchTest(keys: readonly Argument[], limits: SearchLimits): Test {
  const rest = [...keys]
  // All mails are in one charset to this server.
  if (typeof rest[0] === 'string' && rest[0].toUpperCase() === 'CHARSET') rest.splice(0, 2)
  const tests: Test[] = []
  while (rest.length > 0) tests.push(next(rest, limits))
  return (placed) => tests.every((test) => test(placed))
}

/** Takes one key with its values from the front. */
function next(rest: Argument[], limits: SearchLimits): Test {
  const key = rest.shift()
  if (Array.isArray(key)) return searchTest(key, limits)
  const name = String(key).toUpperCase()
  const flag = FLAGS[name]
  if (flag !== undefined) return ({ mail }) => mail.flags.has(flag.name) === flag.is
  switch (name) {
    case 'ALL':
      return () => true
    case 'NOT': {
      const test = next(rest, limits)
      return (placed) => !test(placed)
    }
    case 'OR': {
      const [one, other] = [next(rest, limits), next(rest, limits)]
      return (placed) => one(placed) || other(placed)
    }
    case 'UID': {
      const has = numbersOf(rest.shift(), limits.lastUid)
      return ({ mail }) => has(mail.uid)
    }
    case 'HEADER':
      return header(text(rest), text(rest))
    case 'FROM':
    case 'TO':
    case 'CC':
    case 'SUBJECT':
      return header(name, text(rest))
    case 'TEXT':
    case 'BODY': {
      const wanted = text(rest).toLowerCase()
      return ({ mail }) => mail.raw.toString().toLowerCase().includes(wanted)
    }
    case 'LARGER': {
      const bytes = Number(text(rest))
      return ({ mail }) => mail.raw.length > bytes
    }
    case 'SMALLER': {
      const bytes = Number(text(rest))
      return ({ mail }) => mail.raw.length < bytes
    }
  }
  if (!/^[\d*]/.test(name)) throw new BadCommand(`The sandbox does not search by ${name}.`)
  const has = numbersOf(name, limits.lastPlace)
  return ({ place }) => has(place)
}

const FLAGS: Readonly<Record<string, { name: string; is: boolean }>> = Object.fromEntries(
  ['Seen', 'Deleted', 'Flagged', 'Answered', 'Draft'].flatMap((flag) => [
    [flag.toUpperCase(), { name: `\\${flag}`, is: true }],
    [`UN${flag.toUpperCase()}`, { name: `\\${flag}`, is: false }],
  ]),
)

const header =
  (name: string, value: string): Test =>
  ({ mail }) =>
    headersOf(mail).some(
      (field) =>
        field.name.toLowerCase() === name.toLowerCase() && field.text.toLowerCase().includes(value.toLowerCase()),
    )

function text(rest: Argument[]): string {
  const value = rest.shift()
  if (typeof value !== 'string') throw new BadCommand('Expected a text to search for.')
  return value
}
