// Tokens of the admin API: who may call it, in which role, for which tenants, until when.
//
// A token is 256 random bits. It is shown once, when it is made; the database has only its SHA-256. A guess cannot be tried
// offline against so many bits, so the hash needs no salt and no work factor.
import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import { InvalidDefinition } from '../errors.ts'
import {
  type AdminRole,
  type AdminToken,
  adminSessionEnd,
  adminTokenAny,
  adminTokenFind,
  adminTokenInsert,
  adminTokenList,
  adminTokenRevoke,
} from '../store/admin-tokens.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database, Session } from '../store/db.ts'
import { author, label } from './enqueue-options.ts'

export interface NewTokenOptions {
  /** Says whose it is: changes carry this name in the audit log. Unique among tokens that are in force. */
  name: string
  /** Default 'viewer'. */
  role?: AdminRole
  /** Only for these tenants. Default: all. */
  tenants?: readonly string[]
  /** It is valid for so long. Default: until it is revoked. */
  expiresIn?: Duration
  by: string
}

export interface CreatedToken {
  /** Shown here and never again. */
  readonly secret: string
  readonly token: AdminToken
}

const ROLES: readonly AdminRole[] = ['viewer', 'operator', 'admin']
const SESSION_MS = 12 * 3_600_000
/** A token of somebody's own choice must not be guessable. */
const SHORTEST_SECRET = 16

export class AdminTokens {
  readonly #db: Database
  readonly #clock: Clock

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  /** Throws InvalidDefinition where a token of that name is in force. */
  async create(options: NewTokenOptions): Promise<CreatedToken> {
    const secret = `mr_${randomBytes(32).toString('base64url')}`
    const token = await this.#db.transaction((tx) => this.#insert(tx, secret, options))
    return { secret, token }
  }

  /**
   * Makes a secret that was chosen elsewhere, such as in the environment, the token of this name. Another token of that name
   * is revoked. Safe to repeat, in several processes at once.
   */
  async ensure(secret: string, options: NewTokenOptions): Promise<AdminToken> {
    if (secret.length < SHORTEST_SECRET)
      throw new InvalidDefinition(
        `The token "${options.name}" has ${secret.length} characters: expected at least ${SHORTEST_SECRET}. Take a random one, for instance from \`openssl rand -base64 32\`.`,
      )
    const found = await adminTokenFind(this.#db, this.#clock.databaseNow(), hashOf(secret))
    if (found !== undefined) return found
    try {
      return await this.#db.transaction(async (tx) => {
        await adminTokenRevoke(tx, this.#clock.databaseNow(), { name: options.name, by: author(options.by) })
        return this.#insert(tx, secret, options)
      })
    } catch (error) {
      // Another process may have made it at the same moment.
      const theirs = await adminTokenFind(this.#db, this.#clock.databaseNow(), hashOf(secret))
      if (theirs !== undefined) return theirs
      throw error
    }
  }

  /** All that are known, newest first: revoked and expired ones for 30 days. */
  list(): Promise<AdminToken[]> {
    return adminTokenList(this.#db)
  }

  /** Whether any token is in force. */
  any(): Promise<boolean> {
    return adminTokenAny(this.#db, this.#clock.databaseNow())
  }

  /** The token or session of this secret while it is in force, else undefined. */
  async verify(secret: string): Promise<AdminToken | undefined> {
    return adminTokenFind(this.#db, this.#clock.databaseNow(), hashOf(secret))
  }

  /** It is refused from now on, and the sessions that it opened end. False: no token of that name is in force. */
  async revoke(name: string, options: { by: string }): Promise<boolean> {
    const by = author(options.by)
    return this.#db.transaction(async (tx) => {
      const now = this.#clock.databaseNow()
      const revoked = await adminTokenRevoke(tx, now, { name, by })
      if (revoked !== undefined) await auditWrite(tx, now, { by, action: 'token.revoke', target: name })
      return revoked !== undefined
    })
  }

  /** A session for a browser, which ends after 12 hours or with the token. Undefined: the token is not in force. */
  async openSession(secret: string): Promise<CreatedToken | undefined> {
    const opener = await this.verify(secret)
    if (opener === undefined || opener.isSession) return undefined
    const session = randomBytes(32).toString('base64url')
    const { id, name, role, tenants } = opener
    const token = await adminTokenInsert(this.#db, this.#clock.databaseNow(), {
      ...{ name, role, tenants, sessionOf: id, createdBy: name },
      hash: hashOf(session),
      expiresInMs: SESSION_MS,
    })
    return token && { secret: session, token }
  }

  /** Forgets a session. */
  async endSession(secret: string): Promise<void> {
    await adminSessionEnd(this.#db, hashOf(secret))
  }

  async #insert(tx: Session, secret: string, options: NewTokenOptions): Promise<AdminToken> {
    const { role = 'viewer', tenants = null, expiresIn } = options
    const createdBy = author(options.by)
    const name = author(options.name, 'name')
    if (!ROLES.includes(role)) throw new InvalidDefinition(`role is ${String(role)}: expected ${ROLES.join(', ')}.`)
    if (tenants?.length === 0)
      throw new InvalidDefinition('tenants is empty: name at least one, or leave it out for all.')
    for (const tenant of tenants ?? []) author(label(tenant, 'tenants') ?? '', 'tenants')
    const now = this.#clock.databaseNow()
    const token = await adminTokenInsert(tx, now, {
      ...{ name, role, tenants, createdBy, sessionOf: null },
      hash: hashOf(secret),
      expiresInMs: expiresIn === undefined ? null : toMs(expiresIn, 'expiresIn'),
    })
    if (token === undefined)
      throw new InvalidDefinition(`There is a token "${name}" already: revoke that one, or take another name.`)
    const details = { role, tenants, expiresAt: token.expiresAt }
    await auditWrite(tx, now, { by: createdBy, action: 'token.create', target: name, details })
    return token
  }
}

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
