// One connection of an IMAP client: who logged in, which folder is open, and an answer to each command.

import type { Account, Folder, StoredMail } from './folders.ts'
import { type Argument, BadCommand, type Command, numbersOf } from './imap-command.ts'
import { fetched } from './imap-fetch.ts'
import { type Placed, searchTest } from './imap-search.ts'

export const CAPABILITIES = 'IMAP4rev1 LITERAL+ ID NAMESPACE UNSELECT UIDPLUS MOVE'

export interface SessionOptions {
  /** Undefined: the login is refused, with the reason. */
  logIn(user: string): Account | { readonly refused: string }
  write(bytes: Buffer | string): void
}

/** The folder as this client knows it: its numbers change only when it has been told. */
interface Opened {
  readonly folder: Folder
  readonly isReadOnly: boolean
  view: StoredMail[]
}

/** Refused for a reason of the client's: the folder is not there, or nobody has logged in. */
class Refused extends Error {}

export class ImapSession {
  readonly #options: SessionOptions
  #account: Account | undefined
  #opened: Opened | undefined
  /** The client has said goodbye. */
  isOver = false

  constructor(options: SessionOptions) {
    this.#options = options
  }

  answer({ tag, name, parts }: Command): void {
    try {
      const isUid = name === 'UID'
      const [verb = '', ...rest] = isUid ? parts : [name, ...parts]
      const told = this.#run(String(verb).toUpperCase(), rest, isUid)
      this.#options.write(`${tag} OK ${told}\r\n`)
    } catch (error) {
      if (error instanceof BadCommand) this.#options.write(`${tag} BAD ${error.message}\r\n`)
      else if (error instanceof Refused) this.#options.write(`${tag} NO ${error.message}\r\n`)
      else throw error
    }
  }

  /** Answers with what stands after the OK. */
  #run(verb: string, parts: readonly Argument[], isUid: boolean): string {
    switch (verb) {
      case 'CAPABILITY':
        return this.#say(`CAPABILITY ${CAPABILITIES}`)
      case 'ID':
        return this.#say('ID ("name" "Millrace sandbox")')
      case 'NOOP':
      case 'CHECK':
        return this.#catchUp()
      case 'LOGOUT':
        this.isOver = true
        return this.#say('BYE Goodbye')
      case 'LOGIN':
        return this.#logIn(text(parts[0]))
      case 'NAMESPACE':
        return this.#say('NAMESPACE (("" "/")) NIL NIL')
      case 'LIST':
      case 'LSUB':
        return this.#list(verb, text(parts[1]))
      case 'STATUS':
        return this.#status(text(parts[0]), parts[1])
      case 'CREATE':
        if (!this.#in.create(text(parts[0]))) throw new Refused('[ALREADYEXISTS] There is such a folder.')
        return 'Created'
      case 'SELECT':
      case 'EXAMINE':
        return this.#select(text(parts[0]), verb === 'EXAMINE')
      case 'CLOSE':
      case 'UNSELECT':
        if (verb === 'CLOSE' && !this.#open.isReadOnly) this.#expunge()
        this.#opened = undefined
        return 'Closed'
      case 'EXPUNGE':
        this.#expunge()
        return this.#catchUp()
      case 'SEARCH':
        return this.#search(parts, isUid)
      case 'FETCH':
        return this.#fetch(this.#chosen(parts[0], isUid), parts[1], isUid)
      case 'STORE':
        return this.#store(this.#chosen(parts[0], isUid), parts.slice(1), isUid)
      case 'COPY':
        return this.#copy(this.#chosen(parts[0], isUid), text(parts[1]))
      case 'MOVE':
        return this.#move(this.#chosen(parts[0], isUid), text(parts[1]))
    }
    throw new BadCommand(`The sandbox does not know ${verb}.`)
  }

  #logIn(user: string): string {
    const account = this.#options.logIn(user)
    if ('refused' in account) throw new Refused(account.refused)
    this.#account = account
    return `[CAPABILITY ${CAPABILITIES}] Logged in`
  }

  #list(verb: string, pattern: string): string {
    const wanted = new RegExp(`^${pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll(/[*%]/g, '.*')}$`, 'i')
    if (pattern === '') return this.#say(`${verb} (\\Noselect) "/" ""`)
    for (const { name } of this.#in.folders) if (wanted.test(name)) this.#say(`${verb} () "/" ${quoted(name)}`)
    return 'Listed'
  }

  #status(name: string, items: Argument | undefined): string {
    const folder = this.#folder(name)
    const values: Readonly<Record<string, number>> = {
      MESSAGES: folder.mails.length,
      RECENT: 0,
      UIDNEXT: folder.uidNext,
      UIDVALIDITY: folder.uidValidity,
      UNSEEN: folder.mails.filter(({ flags }) => !flags.has('\\Seen')).length,
    }
    const asked = (Array.isArray(items) ? items : []).map((item) => String(item).toUpperCase())
    return this.#say(`STATUS ${quoted(folder.name)} (${asked.map((item) => `${item} ${values[item] ?? 0}`).join(' ')})`)
  }

  #select(name: string, isReadOnly: boolean): string {
    const folder = this.#folder(name)
    this.#opened = { folder, isReadOnly, view: [...folder.mails] }
    this.#say('FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)')
    this.#say('OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)] Kept')
    this.#say(`${folder.mails.length} EXISTS`)
    this.#say('0 RECENT')
    this.#say(`OK [UIDVALIDITY ${folder.uidValidity}] Numbers hold`)
    this.#say(`OK [UIDNEXT ${folder.uidNext}] Next`)
    return `[READ-${isReadOnly ? 'ONLY' : 'WRITE'}] Opened`
  }

  #search(keys: readonly Argument[], isUid: boolean): string {
    const found = this.#placed.filter(searchTest(keys, this.#limits))
    this.#say(['SEARCH', ...found.map(({ mail, place }) => (isUid ? mail.uid : place))].join(' '))
    return 'Searched'
  }

  #fetch(chosen: readonly Placed[], items: Argument | undefined, isUid: boolean): string {
    for (const { mail, place } of chosen) {
      this.#options.write(`* ${place} FETCH (`)
      this.#options.write(Buffer.concat([fetched(mail, items, { withUid: isUid }), Buffer.from(')\r\n')]))
    }
    return 'Fetched'
  }

  #store(chosen: readonly Placed[], [how, list]: readonly Argument[], isUid: boolean): string {
    const [, sign = '', silent] = /^([+-]?)FLAGS(\.SILENT)?$/i.exec(text(how)) ?? []
    const flags = (Array.isArray(list) ? list : [list]).map((flag) => text(flag as Argument | undefined))
    if (this.#open.isReadOnly) throw new Refused('The folder is open to be read only.')
    for (const { mail } of chosen) {
      if (sign === '') mail.flags.clear()
      for (const flag of flags) {
        if (sign === '-') mail.flags.delete(flag)
        else mail.flags.add(flag)
      }
    }
    return silent === undefined ? this.#fetch(chosen, 'FLAGS', isUid) : 'Stored'
  }

  #copy(chosen: readonly Placed[], name: string): string {
    const folder = this.#folder(name, '[TRYCREATE] ')
    const copies = chosen.map(({ mail: { raw, at, flags } }) => folder.add(raw, { at, flags: [...flags] }))
    const uids = (mails: readonly StoredMail[]): string => mails.map(({ uid }) => uid).join(',')
    if (copies.length === 0) return 'Nothing to copy'
    return `[COPYUID ${folder.uidValidity} ${uids(chosen.map(({ mail }) => mail))} ${uids(copies)}] Copied`
  }

  #move(chosen: readonly Placed[], name: string): string {
    if (this.#open.isReadOnly) throw new Refused('The folder is open to be read only.')
    this.#say(`OK ${this.#copy(chosen, name)}`)
    this.#open.folder.remove(chosen.map(({ mail }) => mail))
    return this.#catchUp()
  }

  #expunge(): void {
    const { folder, isReadOnly } = this.#open
    if (isReadOnly) throw new Refused('The folder is open to be read only.')
    folder.remove(folder.mails.filter(({ flags }) => flags.has('\\Deleted')))
  }

  /** Tells what has gone and come since the client was told. */
  #catchUp(): string {
    const opened = this.#opened
    if (opened === undefined) return 'Done'
    const there = new Set(opened.folder.mails)
    for (let place = opened.view.length; place > 0; place--)
      if (!there.has(opened.view[place - 1] as StoredMail)) this.#say(`${place} EXPUNGE`)
    const left = opened.view.filter((mail) => there.has(mail)).length
    opened.view = [...opened.folder.mails]
    if (opened.view.length > left) this.#say(`${opened.view.length} EXISTS`)
    return 'Done'
  }

  #chosen(set: Argument | undefined, isUid: boolean): Placed[] {
    const { lastUid, lastPlace } = this.#limits
    const has = numbersOf(set, isUid ? lastUid : lastPlace)
    return this.#placed.filter(({ mail, place }) => has(isUid ? mail.uid : place))
  }

  get #placed(): Placed[] {
    return this.#open.view.map((mail, i) => ({ mail, place: i + 1 }))
  }

  get #limits() {
    const { view } = this.#open
    return { lastPlace: view.length, lastUid: view.at(-1)?.uid ?? 0 }
  }

  get #open(): Opened {
    if (this.#opened === undefined) throw new BadCommand('No folder is open. SELECT one first.')
    return this.#opened
  }

  get #in(): Account {
    if (this.#account === undefined) throw new BadCommand('Nobody has logged in. LOGIN first.')
    return this.#account
  }

  #folder(name: string, code = '[NONEXISTENT] '): Folder {
    const folder = this.#in.folder(name)
    if (folder === undefined) throw new Refused(`${code}There is no folder ${name}.`)
    return folder
  }

  #say(text: string): string {
    this.#options.write(`* ${text}\r\n`)
    return 'Done'
  }
}

function text(part: Argument | undefined): string {
  if (typeof part !== 'string') throw new BadCommand('Expected a text.')
  return part
}

const quoted = (name: string): string => `"${name.replaceAll(/["\\]/g, '\\$&')}"`
