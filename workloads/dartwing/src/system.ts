// The components that handlers, routes and the page get. Opened by `start`, which knows the addresses; closed when it stops.
import { randomBytes } from 'node:crypto'
import { createEgress, type Egress } from '@millrace/egress'
import type { Logger, Millrace } from 'millrace'
import { Keycloak } from './auth/keycloak.ts'
import { Database } from './database.ts'
import { type Emailer, openEmailer } from './email/emailer.ts'
import { FaxGateway } from './fax/gateway.ts'
import { filesFolder } from './files/folder.ts'
import { Storage } from './files/storage.ts'
import { Pusher } from './notifications/push.ts'
import { type Addresses, allowedOf, type Mode } from './outside/addresses.ts'
import type { DartwingSettings } from './settings.ts'

export interface OpenSystem {
  readonly millrace: Millrace
  readonly logger: Logger
  readonly databaseUrl: string
  readonly mode: Mode
  /** Undefined: this process calls no service. */
  readonly addresses: Addresses | undefined
  /** Of its page; undefined: real services are called. */
  readonly sandboxUrl: string | undefined
}

/** What calls other servers. */
interface Callers {
  readonly egress: Egress
  readonly emailer: Emailer
  readonly fax: FaxGateway
  readonly pusher: Pusher
  readonly keycloak: Keycloak
}

export class DartwingSystem {
  readonly settings: DartwingSettings
  /** In a folder that all processes share. */
  readonly files: Storage
  readonly #ownLinkSecret = randomBytes(32).toString('base64')
  readonly #guards: { stop(): Promise<void> }[] = []
  #opened: (OpenSystem & { readonly database: Database; readonly callers: Callers | undefined }) | undefined

  constructor(settings: DartwingSettings) {
    this.settings = settings
    this.files = new Storage(filesFolder(settings.DARTWING_FILES))
  }

  open(given: OpenSystem): void {
    if (this.#opened !== undefined) throw new Error('The system of Dartwing is open already.')
    const { addresses, databaseUrl, logger } = given
    const onError = (error: Error) => logger.warn({ error: error.message }, 'an idle connection of Dartwing broke')
    this.#opened = {
      ...given,
      database: new Database(databaseUrl, { onError }),
      callers: addresses && callersOf(addresses),
    }
  }

  get millrace(): Millrace {
    return this.#now().millrace
  }

  get logger(): Logger {
    return this.#now().logger
  }

  get database(): Database {
    return this.#now().database
  }

  get mode(): Mode {
    return this.#now().mode
  }

  get sandboxUrl(): string | undefined {
    return this.#now().sandboxUrl
  }

  /** Signs links to files. Without one in the settings, links are good for as long as the process runs. */
  get linkSecret(): string {
    return this.settings.DARTWING_LINK_SECRET ?? this.#ownLinkSecret
  }

  get egress(): Egress {
    return this.#callers().egress
  }

  get emailer(): Emailer {
    return this.#callers().emailer
  }

  get keycloak(): Keycloak {
    return this.#callers().keycloak
  }

  get pusher(): Pusher {
    return this.#callers().pusher
  }

  get fax(): FaxGateway {
    return this.#callers().fax
  }

  /** Something that runs beside the worker, and stops before the rest. */
  guard(running: { stop(): Promise<void> }): void {
    this.#guards.push(running)
  }

  async close(): Promise<void> {
    for (const guard of this.#guards.splice(0)) await guard.stop()
    const opened = this.#opened
    this.#opened = undefined
    await opened?.callers?.egress.close()
    await opened?.database.close()
  }

  #callers(): Callers {
    const { callers } = this.#now()
    if (callers !== undefined) return callers
    throw new Error('This process runs no jobs of Dartwing, so it calls no services.')
  }

  #now() {
    if (this.#opened !== undefined) return this.#opened
    throw new Error('Dartwing has not started yet, or has stopped.')
  }
}

function callersOf(addresses: Addresses): Callers {
  const egress = createEgress({ allow: allowedOf(addresses), userAgent: 'dartwing' })
  return {
    egress,
    emailer: openEmailer(addresses.mail),
    fax: new FaxGateway(addresses.fax, egress.fetch),
    pusher: new Pusher(addresses.push, egress.fetch),
    keycloak: new Keycloak(addresses.keycloak, egress.fetch),
  }
}
