// SQL about the village's accounts on social networks and their posts.
import type { Queryable } from 'millrace'

export type Provider = 'instagram' | 'mastodon'

export interface SocialAccount {
  readonly id: string
  readonly provider: Provider
  readonly handle: string
  readonly base_url: string
  readonly state: 'active' | 'reauthorise'
  readonly problem: string | null
  readonly token_expires_at: Date | null
  readonly refreshed_at: Date | null
}

export interface Post {
  readonly id: string
  readonly text: string
  readonly url: string
  readonly postedAt: Date
}

const COLUMNS = 'id, provider, handle, base_url, state, problem, token_expires_at, refreshed_at'

const LIST = `
select ${COLUMNS}
from village.social_accounts
order by state desc, provider, handle`

const ONE = `
select ${COLUMNS}
from village.social_accounts
where id = $1`

/** Accounts of the sandbox answer only while it runs. */
const DUE = `
select id
from village.social_accounts
where state = 'active'
  and (not is_sandbox or $1)
order by refreshed_at nulls first, id`

const ADD = `
insert into village.social_accounts (provider, handle, base_url, token_expires_at, is_sandbox)
values ($1, $2, $3, $4, $5)
on conflict (provider, base_url, handle) do nothing
returning ${COLUMNS}`

const REMOVE = `
delete from village.social_accounts
where id = $1
returning handle`

const AUTHORISED = `
update village.social_accounts
set state = 'active', problem = null, token_expires_at = $2
where id = $1
returning ${COLUMNS}`

const REAUTHORISE = `
update village.social_accounts
set state = 'reauthorise', problem = $2
where id = $1`

const REFRESHED = `
update village.social_accounts
set refreshed_at = $2
where id = $1
returning id`

/** Those that are there are brought up to date: people edit what they have written. Answers with how many are new. */
const KEEP_POSTS = `
with kept as (
  insert into village.social_posts (account_id, post_id, text, url, posted_at)
  select $1, id, text, url, "postedAt"
  from jsonb_to_recordset($2::jsonb) as given (id text, text text, url text, "postedAt" timestamptz)
  on conflict (account_id, post_id) do update
  set text = excluded.text, url = excluded.url
  returning xmax = 0 as is_new
)
select count(*) filter (where is_new)::integer as new
from kept`

export const listAccounts = async (db: Queryable): Promise<SocialAccount[]> => all(await db.query(LIST))

export const accountOf = async (db: Queryable, id: string): Promise<SocialAccount | undefined> =>
  all(await db.query(ONE, [id]))[0]

export async function accountsForRefresh(db: Queryable, { hasSandbox }: { hasSandbox: boolean }): Promise<string[]> {
  const { rows } = await db.query(DUE, [hasSandbox])
  return (rows as { id: string }[]).map(({ id }) => id)
}

export interface NewAccount extends Pick<SocialAccount, 'provider' | 'handle' | 'base_url'> {
  readonly token_expires_at?: Date | string | null | undefined
  readonly is_sandbox?: boolean
}

/** Undefined: the village has that account already. */
export async function addAccount(tx: Queryable, account: NewAccount): Promise<SocialAccount | undefined> {
  const { provider, handle, base_url, token_expires_at = null, is_sandbox = false } = account
  return all(await tx.query(ADD, [provider, handle, base_url, token_expires_at, is_sandbox]))[0]
}

/** Its tokens and posts go with it. */
export const removeAccount = async (tx: Queryable, id: string): Promise<boolean> =>
  (await tx.query(REMOVE, [id])).rows.length > 0

/** New tokens have been stored. Undefined: there is no such account. */
export const authorised = async (
  tx: Queryable,
  id: string,
  expiresAt: Date | string | null,
): Promise<SocialAccount | undefined> => all(await tx.query(AUTHORISED, [id, expiresAt]))[0]

export async function mustReauthorise(tx: Queryable, id: string, problem: string): Promise<void> {
  await tx.query(REAUTHORISE, [id, problem])
}

/** Answers with how many posts are new. An account that was removed meanwhile keeps none. */
export async function keepPosts(
  tx: Queryable,
  id: string,
  { posts, now }: { posts: readonly Post[]; now: Date },
): Promise<number> {
  if ((await tx.query(REFRESHED, [id, now])).rows.length === 0) return 0
  const { rows } = await tx.query(KEEP_POSTS, [id, JSON.stringify(posts)])
  return (rows as { new: number }[])[0]?.new ?? 0
}

const all = ({ rows }: { rows: readonly unknown[] }): SocialAccount[] => rows as SocialAccount[]
