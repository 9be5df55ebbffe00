// Instagram's and Mastodon's interfaces, with the village's accounts on them. A token says itself what it is worth, so that a sandbox
// that was started anew still knows those of an earlier start.
import { type Answer, type Call, json, type Service } from '@millrace/sandbox'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** As long as Instagram's long-lived tokens. */
const LIFE_MS = 60 * DAY_MS

export interface SocialAccountOfSandbox {
  readonly provider: 'instagram' | 'mastodon'
  readonly handle: string
  /** Null: its token does not expire. */
  readonly tokenDays: number | null
  readonly isRevoked?: boolean
}

/** One token is about to expire and gets refreshed, one has expired, one was revoked. */
export const ACCOUNTS: readonly SocialAccountOfSandbox[] = [
  { provider: 'instagram', handle: 'village.square', tokenDays: 3 },
  { provider: 'instagram', handle: 'village.bakery', tokenDays: -2 },
  { provider: 'mastodon', handle: 'village', tokenDays: null },
  { provider: 'mastodon', handle: 'choir', tokenDays: null, isRevoked: true },
]

export const expiryOf = ({ tokenDays }: SocialAccountOfSandbox, now: Date): Date | null =>
  tokenDays === null ? null : new Date(now.getTime() + tokenDays * DAY_MS)

export const tokenFor = (account: SocialAccountOfSandbox, now: Date): string =>
  [account.isRevoked ? 'revoked' : 'granted', account.handle, expiryOf(account, now)?.getTime() ?? 'never'].join('~')

interface SocialOptions {
  readonly now: () => Date
}

abstract class Network implements Service {
  protected readonly options: SocialOptions

  constructor(options: SocialOptions) {
    this.options = options
  }

  abstract answer(call: Call): Answer
  abstract limited(): Answer

  /** Whose token it is; undefined: it is worth nothing. */
  protected handleOf({ headers }: Call): string | undefined {
    const [state, handle, expires] = (/^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '').split('~')
    if (state !== 'granted') return undefined
    return expires === 'never' || Number(expires) > this.options.now().getTime() ? handle : undefined
  }

  /** A new one every few hours, newest first. Accounts begin at different ones. */
  protected posts(handle: string): { id: string; text: string; at: Date }[] {
    const latest = Math.floor(this.options.now().getTime() / (3 * HOUR_MS))
    return Array.from({ length: 8 }, (_, i) => ({
      id: String(latest - i),
      text: TEXTS[(latest - i + handle.length) % TEXTS.length] ?? '',
      at: new Date((latest - i) * 3 * HOUR_MS - handle.length * 60_000),
    }))
  }
}

const TEXTS = [
  'The market opens at eight on Saturday. Bring a bag!',
  'Thank you to everybody who swept the square this morning.',
  'The bridge is closed on Thursday from nine to noon.',
  'A lost blue scarf waits at the bakery.',
  'Choir practice moves to the school this week.',
]

export class Instagram extends Network {
  answer(call: Call): Answer {
    const handle = this.handleOf(call)
    if (handle === undefined)
      return json(400, { error: { message: 'Invalid OAuth access token', type: 'OAuthException', code: 190 } })
    if (call.path === '/refresh_access_token') {
      const expires = this.options.now().getTime() + LIFE_MS
      const token = `granted~${handle}~${expires}`
      return json(200, { access_token: token, token_type: 'bearer', expires_in: LIFE_MS / 1_000 })
    }
    if (call.path !== '/me/media') return json(404, { error: { message: 'Unknown path', code: 2_500 } })
    return json(200, {
      data: this.posts(handle).map(({ id, text, at }) => ({
        ...{ id, caption: text, timestamp: at.toISOString() },
        permalink: `https://www.instagram.com/p/${handle}-${id}/`,
      })),
    })
  }

  limited(): Answer {
    return json(400, { error: { message: 'Application request limit reached', code: 4 } })
  }
}

export class Mastodon extends Network {
  answer(call: Call): Answer {
    const handle = this.handleOf(call)
    if (handle === undefined) return json(401, { error: 'The access token was revoked' })
    if (call.path === '/api/v1/accounts/verify_credentials') return json(200, { id: '1', username: handle })
    if (call.path !== '/api/v1/accounts/1/statuses') return json(404, { error: 'Record not found' })
    return json(
      200,
      this.posts(handle).map(({ id, text, at }) => ({
        ...{ id, content: `<p>${text}</p>`, created_at: at.toISOString() },
        url: `https://social.example/@${handle}/${id}`,
      })),
    )
  }

  limited(): Answer {
    const reset = new Date(this.options.now().getTime() + 60_000).toISOString()
    return json(429, { error: 'Too many requests' }, { 'x-ratelimit-reset': reset })
  }
}
