// SQL of the posts on the page.
import type { Queryable } from 'millrace'

const LATEST = `
select provider, handle, text, url, posted_at as "postedAt"
from village.social_posts as post
join village.social_accounts as account on account.id = post.account_id
order by posted_at desc, post_id
limit $1`

const FACTS = `
select
  max(refreshed_at) as "refreshedAt",
  coalesce(json_agg(json_build_object('provider', provider, 'handle', handle, 'problem', problem) order by handle)
    filter (where state = 'reauthorise'), '[]') as unauthorised
from village.social_accounts`

export interface PostRow {
  readonly provider: string
  readonly handle: string
  readonly text: string
  /** Checked as it came: http or https. */
  readonly url: string
  readonly postedAt: Date
}

export interface UnauthorisedAccount {
  readonly provider: string
  readonly handle: string
  readonly problem: string | null
}

export interface SocialFacts {
  readonly refreshedAt: Date | null
  readonly unauthorised: readonly UnauthorisedAccount[]
}

export const latestPosts = async (db: Queryable, most: number): Promise<PostRow[]> =>
  (await db.query(LATEST, [most])).rows as unknown as PostRow[]

export const socialFacts = async (db: Queryable): Promise<SocialFacts> =>
  (await db.query(FACTS)).rows[0] as unknown as SocialFacts
