// What a social network can be asked, whichever it is, and how it says no.
import { RetryAfter } from 'millrace'
import { ServiceFailed } from '../outside/service-call.ts'
import type { Post } from './account-store.ts'

export interface Ask {
  readonly baseUrl: string
  readonly token: string
  readonly signal: AbortSignal
}

export interface FreshToken {
  readonly token: string
  readonly expiresAt: Date
}

export interface Network {
  /** Newest first. Throws TokenRefused, RetryAfter or ServiceFailed. */
  posts(ask: Ask): Promise<Post[]>
  /** Undefined: tokens of this network do not expire. */
  readonly refresh?: (ask: Ask, now: Date) => Promise<FreshToken>
}

/** The network no longer takes the token: somebody must authorise the village again. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
}

const MOST_POSTS = 20
export const MOST_TEXT = 1_000
const LONGEST_WAIT_MS = 86_400_000

/** Not longer than a day, whatever it says. */
export function tooMany(service: string, waitMs: number): never {
  throw new RetryAfter(Math.min(Math.max(waitMs, 1_000), LONGEST_WAIT_MS), `${service} answered: too many requests`)
}

/** What a network gives as a post, checked: the page shows it. */
export function postOf(given: { id: unknown; text: unknown; url: unknown; postedAt: unknown }): Post | undefined {
  const { id, text, url, postedAt } = given
  const at = new Date(typeof postedAt === 'string' ? postedAt : Number.NaN)
  if (typeof id !== 'string' || id === '' || typeof url !== 'string' || !/^https?:\/\//i.test(url)) return undefined
  if (Number.isNaN(at.getTime())) return undefined
  const plain = typeof text === 'string' ? text.replaceAll('\0', '').trim().slice(0, MOST_TEXT).toWellFormed() : ''
  return { id, text: plain, url, postedAt: at }
}

export const postsOf = (
  service: string,
  list: unknown,
  read: (item: Record<string, unknown>) => Post | undefined,
): Post[] => {
  if (!Array.isArray(list)) throw new ServiceFailed(service, 'answered without a list of posts')
  return list
    .slice(0, MOST_POSTS)
    .flatMap((item) => (typeof item === 'object' && item !== null ? (read(item) ?? []) : []))
}
