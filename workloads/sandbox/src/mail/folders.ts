// What IMAP shows: accounts with folders, and in them messages with numbers that never come twice.

export interface StoredMail {
  readonly uid: number
  readonly raw: Buffer
  readonly at: Date
  readonly flags: Set<string>
}

/** A sandbox may run for weeks. */
const KEPT = 500

export class Folder {
  readonly name: string
  /** Oldest first. */
  readonly mails: StoredMail[] = []
  uidValidity: number
  uidNext = 1

  constructor(name: string, uidValidity: number) {
    this.name = name
    this.uidValidity = uidValidity
  }

  add(raw: Buffer, { at = new Date(), flags = [] as readonly string[] } = {}): StoredMail {
    const mail = { uid: this.uidNext, raw, at, flags: new Set(flags) }
    this.uidNext += 1
    this.mails.push(mail)
    if (this.mails.length > KEPT) this.mails.shift()
    return mail
  }

  remove(mails: readonly StoredMail[]): void {
    const gone = new Set(mails)
    this.mails.splice(0, this.mails.length, ...this.mails.filter((mail) => !gone.has(mail)))
  }

  /** As a server does that has lost its index: the same mails under other numbers. */
  renumber(): void {
    const mails = this.mails.splice(0)
    this.uidValidity += 1
    this.uidNext = 1
    for (const { raw, at, flags } of mails) this.add(raw, { at, flags: [...flags] })
  }
}

export class Account {
  readonly #folders = new Map<string, Folder>()
  readonly #uidValidity: number

  constructor(uidValidity: number) {
    this.#uidValidity = uidValidity
    this.create('INBOX')
  }

  /** INBOX is written in whatever case. */
  folder(name: string): Folder | undefined {
    return this.#folders.get(canonical(name))
  }

  /** False: there is one of that name. */
  create(name: string): boolean {
    if (this.folder(name) !== undefined) return false
    this.#folders.set(canonical(name), new Folder(canonical(name), this.#uidValidity + this.#folders.size))
    return true
  }

  get inbox(): Folder {
    return this.folder('INBOX') as Folder
  }

  get folders(): readonly Folder[] {
    return [...this.#folders.values()]
  }
}

const canonical = (name: string): string => (name.toUpperCase() === 'INBOX' ? 'INBOX' : name)
