// Tokens of social accounts. They are in no payload, log or error, and in the table only sealed, bound to account and kind (P5, P13).
import type { Millrace, Queryable } from 'millrace'

export type TokenKind = 'access' | 'refresh'

const KEEP = `
insert into village.social_tokens (account_id, kind, sealed)
values ($1, $2, $3)
on conflict (account_id, kind) do update
set sealed = excluded.sealed, updated_at = now()`

const READ = `
select sealed
from village.social_tokens
where account_id = $1
  and kind = $2`

/** Only if nobody has stored another token meanwhile. */
const RESEAL = `
update village.social_tokens
set sealed = $4
where account_id = $1
  and kind = $2
  and sealed = $3`

const boundTo = (accountId: string, kind: TokenKind) => ({ for: `village/social-token/${accountId}/${kind}` })

export interface NewToken {
  readonly accountId: string
  readonly kind: TokenKind
  readonly token: string
}

export async function keepToken(
  millrace: Millrace,
  tx: Queryable,
  { accountId, kind, token }: NewToken,
): Promise<void> {
  await tx.query(KEEP, [accountId, kind, millrace.seal(token, boundTo(accountId, kind))])
}

/** Undefined: the account has none of that kind. Throws SealNotOpened. One under an older key is sealed anew. */
export async function tokenOf(
  millrace: Millrace,
  db: Queryable,
  { accountId, kind }: Omit<NewToken, 'token'>,
): Promise<string | undefined> {
  const { rows } = await db.query(READ, [accountId, kind])
  const sealed = (rows as { sealed: string }[])[0]?.sealed
  if (sealed === undefined) return undefined
  const token = millrace.open(sealed, boundTo(accountId, kind)) as string
  if (millrace.isStale(sealed))
    await db.query(RESEAL, [accountId, kind, sealed, millrace.seal(token, boundTo(accountId, kind))])
  return token
}
