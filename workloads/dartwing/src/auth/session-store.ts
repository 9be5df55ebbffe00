// The local sessions of a user, in the context of the organization.
import type { Queryable } from 'millrace'
import { query } from '../query.ts'

export interface SessionCounts {
  readonly opened: number
  readonly closed: number
  readonly kept: number
}

/** Makes the open sessions those that are named. */
export async function sessionsReplace(
  tx: Queryable,
  organization: string,
  user: string,
  sessions: readonly string[],
): Promise<SessionCounts> {
  const closed = await query(
    tx,
    `update dartwing.user_session
     set closed_at = now()
     where keycloak_user = $1 and closed_at is null and keycloak_session <> all($2)
     returning keycloak_session`,
    [user, sessions],
  )
  const opened = await query(
    tx,
    `insert into dartwing.user_session (organization, keycloak_session, keycloak_user)
     select $1, session, $2
     from unnest($3::text[]) as session
     on conflict (organization, keycloak_session) do nothing
     returning keycloak_session`,
    [organization, user, sessions],
  )
  return { opened: opened.length, closed: closed.length, kept: sessions.length - opened.length }
}
