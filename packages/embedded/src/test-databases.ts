import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { poll } from './poll.ts'

export interface TestDatabase extends AsyncDisposable {
  readonly url: string
  readonly name: string
  /** Disconnects whoever still uses it. Safe to call more than once. */
  drop(): Promise<void>
}

export interface TestDatabases extends AsyncDisposable {
  /** Runs `prepare` once on a new database. Answers with its name, which other processes may pass to `fresh`. */
  template(name: string, prepare: (url: string) => Promise<void>): Promise<string>
  /** A new database with the content of a template: the one named, else the last one made here. */
  fresh(template?: string): Promise<TestDatabase>
  /** Drops every database and template made here. */
  close(): Promise<void>
}

/** Databases that are quick to make, on a server where `adminUrl` may create them. */
export function testDatabases(adminUrl: string): TestDatabases {
  return new Factory(adminUrl)
}

const templateDeadlineMs = 30_000
const objectInUse = '55006'

class Factory implements TestDatabases {
  readonly #adminUrl: string
  readonly #pool: pg.Pool
  readonly #made = new Set<string>()
  #lastTemplate: string | undefined
  #waitsForDisk: Promise<boolean> | undefined

  constructor(adminUrl: string) {
    this.#adminUrl = adminUrl
    this.#pool = new pg.Pool({
      connectionString: adminUrl,
      max: 2,
      connectionTimeoutMillis: 10_000,
      allowExitOnIdle: true,
    })
    // Idle connections report a server that went away; the next query reports it to the caller.
    this.#pool.on('error', () => {})
  }

  async template(name: string, prepare: (url: string) => Promise<void>): Promise<string> {
    const database = uniqueName(`template_${name}`)
    await this.#create(`create database ${database}`, database)
    await prepare(this.#urlOf(database))
    // A template can only be copied while nobody is connected to it, so from now on nobody can be.
    await this.#pool.query(`alter database ${database} allow_connections false`)
    this.#lastTemplate = database
    return database
  }

  async fresh(template = this.#lastTemplate): Promise<TestDatabase> {
    if (template === undefined)
      throw new Error('There is no template yet: await template(name, prepare) before fresh().')
    if (!/^\w+$/.test(template)) throw new Error(`"${template}" is not a name that template() answered with.`)
    const name = uniqueName('fresh')
    await this.#create(`create database ${name} template ${template} strategy ${await this.#strategy()}`, name)
    const drop = () => this.#drop(name)
    return { url: this.#urlOf(name), name, drop, [Symbol.asyncDispose]: drop }
  }

  async close(): Promise<void> {
    for (const name of this.#made) await this.#drop(name)
    if (!this.#pool.ended) await this.#pool.end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The connections with which a template was prepared may take a moment to leave it. */
  async #create(statement: string, name: string): Promise<void> {
    let lastError: unknown
    await poll(
      async () => {
        try {
          await this.#pool.query(statement)
          return true
        } catch (error) {
          if ((error as { code?: string }).code !== objectInUse) throw error
          lastError = error
          return undefined
        }
      },
      {
        withinMs: templateDeadlineMs,
        expired: () => new Error(`"${statement}" found it in use`, { cause: lastError }),
      },
    )
    this.#made.add(name)
  }

  /** Copying files needs two checkpoints, which are quick where nobody waits for the disk. */
  async #strategy(): Promise<string> {
    this.#waitsForDisk ??= this.#pool
      .query<{ fsync: string }>('show fsync')
      .then(({ rows }) => rows[0]?.fsync !== 'off')
    return (await this.#waitsForDisk) ? 'wal_log' : 'file_copy'
  }

  async #drop(name: string): Promise<void> {
    if (!this.#made.delete(name)) return
    await this.#pool.query(`drop database if exists ${name} with (force)`)
  }

  #urlOf(database: string): string {
    const url = new URL(this.#adminUrl)
    url.pathname = `/${database}`
    return url.href
  }
}

function uniqueName(purpose: string): string {
  const readable = purpose.toLowerCase().replace(/\W+/g, '_').slice(0, 30)
  return `millrace_${readable}_${process.pid}_${randomBytes(4).toString('hex')}`
}
