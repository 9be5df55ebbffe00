// Operations about the village's social accounts in the admin API. Tokens can be written, and are read by nobody.
import { type CallContext, Refusal, type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import { EncryptionKeyMissing, type Queryable } from 'millrace'
import { z } from 'zod'
import { addAccount, authorised, listAccounts, removeAccount, type SocialAccount } from '../social/account-store.ts'
import { keepToken } from '../social/token-store.ts'
import type { VillageParts } from '../village-parts.ts'

const PATH = '/admin/api/social-accounts'
const INSTAGRAM = 'https://graph.instagram.com'
const id = z.uuid({ error: 'expected the id of an account: a uuid' })

const tokens = {
  access_token: z.string().min(1).max(4_096).describe('Stored encrypted. No answer ever has it'),
  expires_at: z.iso.datetime({ offset: true }).nullable().optional().describe('null: it does not expire'),
}

const shown = z.object({
  id: z.uuid(),
  provider: z.enum(['instagram', 'mastodon']),
  handle: z.string(),
  base_url: z.string(),
  state: z.enum(['active', 'reauthorise']),
  problem: z.string().nullable(),
  token_expires_at: z.iso.datetime({ offset: true }).nullable(),
  refreshed_at: z.iso.datetime({ offset: true }).nullable(),
})

const list = endpoint({
  method: 'GET',
  path: PATH,
  input: z.object({}),
  output: z.object({ accounts: z.array(shown) }),
  permission: 'viewer',
  scope: 'all',
  summary: 'List the social accounts of the village, without their tokens',
})

const add = endpoint({
  method: 'POST',
  path: PATH,
  input: z.object({
    provider: z.enum(['instagram', 'mastodon']),
    handle: z.string().regex(/^[\w.-]{1,100}$/, { error: 'expected a name without @, such as village.square' }),
    base_url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('Of the Mastodon server, such as https://mastodon.social'),
    ...tokens,
  }),
  output: shown,
  permission: 'operator',
  scope: 'all',
  status: 201,
  summary: 'Show the posts of a social account',
  description: 'Its posts come with the next refresh, within half an hour.',
})

const change = endpoint({
  method: 'PUT',
  path: `${PATH}/:id/tokens`,
  input: z.object({ id, ...tokens }),
  output: shown,
  permission: 'operator',
  scope: 'all',
  summary: 'Give a social account a new token',
  description: 'For an account whose token was revoked. It is refreshed again from then on.',
})

const remove = endpoint({
  method: 'DELETE',
  path: `${PATH}/:id`,
  input: z.object({ id }),
  output: z.object({ removed: z.literal(true) }),
  permission: 'operator',
  scope: 'all',
  summary: 'Forget a social account, its tokens and its posts',
})

export function socialAccountRoutes({ database }: VillageParts): Route[] {
  return [
    route(list, async () => ({ accounts: await listAccounts(database) })),
    route(add, ({ base_url, access_token: token, expires_at = null, ...given }, caller) =>
      database.transaction(async (tx) => {
        const baseUrl = addressOf(given.provider, base_url)
        const added = await addAccount(tx, { ...given, base_url: baseUrl, token_expires_at: expires_at })
        if (added === undefined)
          throw new Refusal(409, 'account_known', `The village shows @${given.handle} of ${baseUrl} already.`)
        await keep(tx, caller, { accountId: added.id, token })
        await note(tx, caller, { action: 'social_account.create', target: added.id, details: given })
        return added
      }),
    ),
    route(change, ({ id, access_token: token, expires_at = null }, caller) =>
      database.transaction(async (tx) => {
        const changed: SocialAccount = (await authorised(tx, id, expires_at)) ?? noAccount(id)
        await keep(tx, caller, { accountId: id, token })
        await note(tx, caller, { action: 'social_account.authorise', target: id, details: { expires_at } })
        return changed
      }),
    ),
    route(remove, ({ id }, caller) =>
      database.transaction(async (tx) => {
        if (!(await removeAccount(tx, id))) noAccount(id)
        await note(tx, caller, { action: 'social_account.remove', target: id, details: {} })
        return { removed: true as const }
      }),
    ),
  ]
}

function addressOf(provider: SocialAccount['provider'], given: string | undefined): string {
  if (given !== undefined) return given.replace(/\/+$/, '')
  if (provider === 'instagram') return INSTAGRAM
  throw new Refusal(400, 'base_url_missing', 'A Mastodon account needs "base_url": the address of its server.')
}

async function keep(
  tx: Queryable,
  { millrace }: Pick<CallContext, 'millrace'>,
  { accountId, token }: { accountId: string; token: string },
): Promise<void> {
  try {
    await keepToken(millrace, tx, { accountId, kind: 'access', token })
  } catch (error) {
    if (!(error instanceof EncryptionKeyMissing)) throw error
    throw new Refusal(
      503,
      'no_encryption_keys',
      'Tokens are stored encrypted, and this server has no keys. Set MILLRACE_ENCRYPTION_KEYS.',
    )
  }
}

/** In the audit log, exactly if the change commits. Never with a token. */
const note = (
  tx: Queryable,
  { millrace, by }: Pick<CallContext, 'millrace' | 'by'>,
  entry: { action: string; target: string; details: Record<string, unknown> },
): Promise<void> => millrace.audit.write({ by, ...entry }, { tx })

function noAccount(id: string): never {
  throw new Refusal(404, 'not_found', `There is no social account ${id}. GET ${PATH} lists them.`)
}
