// SOCIAL_REFRESH: a job for every account, or the posts of one. A token that is about to expire is replaced first, and stored
// before it is used: a network may take the old one back as soon as it has given the new one.
import {
  cancel,
  defineService,
  EncryptionKeyMissing,
  type JobContext,
  type Outcome,
  SealNotOpened,
  Unrecoverable,
} from 'millrace'
import type { VillageParts } from '../village-parts.ts'
import {
  accountOf,
  accountsForRefresh,
  authorised,
  keepPosts,
  mustReauthorise,
  type Provider,
  type SocialAccount,
} from './account-store.ts'
import { Instagram } from './instagram.ts'
import { Mastodon } from './mastodon.ts'
import { type Network, TokenRefused } from './network.ts'
import { keepToken, tokenOf } from './token-store.ts'

/** A token that is refused says nothing against the network. */
const counts = (error: unknown): boolean => !(error instanceof TokenRefused)
const SERVICES = {
  instagram: defineService('instagram', { counts }),
  mastodon: defineService('mastodon', { counts }),
} as const

/** A token with less time left is replaced. */
const NEARLY_MS = 7 * 86_400_000

type Token = 'kept' | 'refreshed'
type Result =
  | { due: number; enqueued: number; duplicate: number }
  | { account_id: string; posts_new: number; token: Token }

export class SocialRefresh {
  readonly #parts: VillageParts
  readonly #networks: Readonly<Record<Provider, Network>>

  constructor(parts: VillageParts) {
    this.#parts = parts
    this.#networks = { instagram: new Instagram(parts.outside), mastodon: new Mastodon(parts.outside) }
  }

  async run(
    { account_id: id }: { readonly account_id?: string | undefined },
    ctx: JobContext,
  ): Promise<Result | Outcome> {
    if (id === undefined) return this.#fanOut()
    const account = await accountOf(this.#parts.database, id)
    if (account === undefined) return cancel(`There is no social account ${id}.`)
    if (account.state === 'reauthorise') return cancel(reasonOf(account, account.problem ?? ''))
    try {
      return await this.#one(account, ctx)
    } catch (error) {
      if (error instanceof TokenRefused) return this.#refused(account, error.message, ctx)
      // Without the right key no attempt will ever succeed.
      if (error instanceof SealNotOpened || error instanceof EncryptionKeyMissing)
        throw new Unrecoverable(`The token of @${account.handle} cannot be opened: ${error.message}`, { cause: error })
      throw error
    }
  }

  async #fanOut(): Promise<Result> {
    const { database, contracts, client, outside } = this.#parts
    const ids = await accountsForRefresh(database, { hasSandbox: outside.hasSandbox })
    if (ids.length === 0) return { due: 0, enqueued: 0, duplicate: 0 }
    const results = await client.current.enqueueMany(
      contracts.SOCIAL_REFRESH,
      ids.map((account_id) => ({ account_id })),
    )
    const duplicate = results.filter(({ status }) => status === 'duplicate').length
    return { due: ids.length, enqueued: ids.length - duplicate, duplicate }
  }

  async #one(account: SocialAccount, ctx: JobContext): Promise<Result> {
    const { database, client, clock } = this.#parts
    const { id, provider, base_url: baseUrl } = account
    const kept = await tokenOf(client.current, database, { accountId: id, kind: 'access' })
    if (kept === undefined) throw new TokenRefused('The village has no token for it.')
    const fresh = await this.#refreshed(account, kept, ctx)
    const network = this.#networks[provider]
    const ask = { baseUrl, token: fresh ?? kept, signal: ctx.signal }
    const posts = await ctx.breaker(SERVICES[provider], () => network.posts(ask))
    return ctx.transaction(async (tx) => ({
      account_id: id,
      posts_new: await keepPosts(tx, id, { posts, now: clock.now() }),
      token: fresh === undefined ? ('kept' as const) : ('refreshed' as const),
    }))
  }

  /** Undefined: the token that is kept will do. */
  async #refreshed(account: SocialAccount, token: string, ctx: JobContext): Promise<string | undefined> {
    const { database, client, clock } = this.#parts
    const { id, provider, base_url: baseUrl, token_expires_at: expiresAt } = account
    const { refresh } = this.#networks[provider]
    if (refresh === undefined || expiresAt === null) return undefined
    if (expiresAt.getTime() - clock.now().getTime() > NEARLY_MS) return undefined
    const fresh = await ctx.breaker(SERVICES[provider], () =>
      refresh({ baseUrl, token, signal: ctx.signal }, clock.now()),
    )
    await database.transaction(async (tx) => {
      await keepToken(client.current, tx, { accountId: id, kind: 'access', token: fresh.token })
      await authorised(tx, id, fresh.expiresAt)
    })
    ctx.log.info({ account: account.handle, expiresAt: fresh.expiresAt }, 'the token of a social account was refreshed')
    return fresh.token
  }

  /** The page says so, until an operator gives the account new tokens. */
  #refused(account: SocialAccount, why: string, ctx: JobContext): Promise<Outcome> {
    return ctx.transaction(async (tx) => {
      await mustReauthorise(tx, account.id, why)
      return cancel(reasonOf(account, why))
    })
  }
}

const reasonOf = ({ id, handle, provider }: SocialAccount, why: string): string =>
  `@${handle} on ${provider} must be authorised again: ${why} Give it a new token: PUT /admin/api/social-accounts/${id}/tokens`
