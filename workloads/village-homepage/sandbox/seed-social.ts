// The village has accounts on the sandbox's networks. Their addresses change with its port, so each start brings them up to date.
import { EncryptionKeyMissing } from 'millrace'
import { addAccount } from '../src/social/account-store.ts'
import { keepToken } from '../src/social/token-store.ts'
import type { VillageParts } from '../src/village-parts.ts'
import { ACCOUNTS, expiryOf, tokenFor } from './social.ts'

/** Whoever must be authorised again stays so: an operator of the sandbox gives a new token as one of a real village does. */
const MOVE = `
update village.social_accounts
set base_url = $3
where is_sandbox
  and provider = $1
  and handle = $2
returning id`

/** Without keys to seal their tokens with, the village has no accounts: `millrace dev` makes keys beside a database of its own only. */
export async function seedSocial(
  { database, client, clock, site }: VillageParts,
  urls: Readonly<Record<'instagram' | 'mastodon', string>>,
): Promise<void> {
  const now = clock.now()
  const seeded = database.transaction(async (tx) => {
    for (const account of ACCOUNTS) {
      const { provider, handle } = account
      const moved = await tx.query(MOVE, [provider, handle, urls[provider]])
      if (moved.rows.length > 0) continue
      const expires = { token_expires_at: expiryOf(account, now), is_sandbox: true }
      const added = await addAccount(tx, { provider, handle, base_url: urls[provider], ...expires })
      if (added === undefined) continue
      await keepToken(client.current, tx, { accountId: added.id, kind: 'access', token: tokenFor(account, now) })
    }
  })
  await seeded.catch((error: unknown) => {
    if (!(error instanceof EncryptionKeyMissing)) throw error
    site.logger?.warn({}, 'the social accounts of the sandbox are left out: set MILLRACE_ENCRYPTION_KEYS to see them')
  })
}
