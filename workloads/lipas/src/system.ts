// The components that handlers, routes and the page get. Opened by `start`, which knows the addresses; closed when it stops.
import { createEgress, type Egress, type EgressFetch, type EgressInit } from '@millrace/egress'
import type { Logger, Millrace } from 'millrace'
import { LipasDatabase } from './database/pool.ts'
import { Router } from './diversity/routing.ts'
import { Coverage } from './elevation/coverage.ts'
import { type Emailer, openEmailer } from './mail/emailer.ts'
import { type Addresses, allowedOf, type Mode } from './outside/addresses.ts'
import { openSearch, type SearchClient } from './search/client.ts'
import type { LipasSettings } from './settings.ts'
import { Uptime } from './uptime.ts'
import { UtpClient } from './utp/client.ts'

export interface OpenSystem {
  readonly millrace: Millrace
  readonly logger: Logger
  readonly databaseUrl: string
  readonly mode: Mode
  readonly addresses: Addresses
  /** Of its page; undefined: real services are called. */
  readonly sandboxUrl: string | undefined
}

/** Where time comes from: for tests. */
export interface Times {
  readonly clock?: { now(): Date }
  readonly uptime?: Uptime
  /** How long the elevation service may take for one job. Default 5 minutes. */
  readonly elevationWithinMs?: number
}

interface Opened extends OpenSystem {
  readonly egress: Egress
  readonly emailer: Emailer
  readonly search: SearchClient
  readonly coverage: Coverage
  readonly router: Router | undefined
  readonly utp: UtpClient
}

export class LipasSystem {
  readonly settings: LipasSettings
  readonly clock: { now(): Date }
  /** The register's own connections: handlers write in ctx.transaction instead where the job must complete with it. */
  readonly database = new LipasDatabase()
  /** How long this process has been at work. */
  readonly uptime: Uptime
  readonly elevationWithinMs: number | undefined
  #opened: Opened | undefined

  constructor(settings: LipasSettings, times: Times = {}) {
    const { clock = { now: () => new Date() }, uptime = new Uptime(), elevationWithinMs } = times
    this.settings = settings
    this.clock = clock
    this.uptime = uptime
    this.elevationWithinMs = elevationWithinMs
  }

  open(given: OpenSystem): void {
    if (this.#opened !== undefined) throw new Error('The system of LIPAS is open already.')
    const { logger, databaseUrl, addresses } = given
    this.database.open(databaseUrl, {
      onError: (error) => logger.warn({ error: error.message }, 'an idle connection of LIPAS broke'),
    })
    this.uptime.start()
    this.#opened = {
      ...given,
      egress: createEgress({ allow: allowedOf(addresses), userAgent: 'lipas' }),
      emailer: openEmailer(addresses.mail),
      search: openSearch(addresses.search),
      coverage: new Coverage(addresses.elevation, this.fetch),
      router: addresses.routing && new Router(addresses.routing, this.fetch),
      utp: new UtpClient(addresses.utp, this.fetch),
    }
  }

  /** Reaches no private address but those that are configured. */
  readonly fetch: EgressFetch = (input: string | URL | Request, init?: EgressInit) =>
    this.#now().egress.fetch(input, init)

  get addresses(): Addresses {
    return this.#now().addresses
  }

  get millrace(): Millrace {
    return this.#now().millrace
  }

  get logger(): Logger {
    return this.#now().logger
  }

  get emailer(): Emailer {
    return this.#now().emailer
  }

  get search(): SearchClient {
    return this.#now().search
  }

  get coverage(): Coverage {
    return this.#now().coverage
  }

  /** Undefined: distances are straight lines. */
  get router(): Router | undefined {
    return this.#now().router
  }

  get utp(): UtpClient {
    return this.#now().utp
  }

  get sandboxUrl(): string | undefined {
    return this.#now().sandboxUrl
  }

  /** Where people reach the register, for links in mails. */
  get publicUrl(): string | undefined {
    return process.env.MILLRACE_PUBLIC_URL || undefined
  }

  get mode(): Mode {
    return this.#now().mode
  }

  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    opened?.emailer.close()
    await opened?.search.close()
    await opened?.egress.close()
    await this.database.close()
  }

  #now(): Opened {
    if (this.#opened !== undefined) return this.#opened
    throw new Error('LIPAS has not started yet, or has stopped.')
  }
}
