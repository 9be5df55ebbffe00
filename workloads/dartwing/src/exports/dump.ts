// All rows of an organization as one statement, so that they are one snapshot: no child is without its parent.

/** In the order in which they refer to each other. */
export const TABLES = [
  ...['org_member', 'task', 'contact', 'document', 'fax', 'fax_transmission', 'webhook_endpoint', 'webhook_delivery'],
  ...[
    'email',
    'email_suppression',
    'import',
    'import_batch',
    'import_error',
    'notification',
    'push_subscription',
    'user_session',
  ],
  ...['integration', 'sync_device', 'sync_delta', 'sync_conflict', 'sync_head', 'file', 'report', 'export'],
] as const

/** What opens something stays here. */
const LEFT_OUT = [
  'sealed_secrets',
  'sealed_auth',
  'sealed_client_secret',
  'sealed_refresh_token',
  'sealed_access_token',
  'token_sha256',
]

export interface DumpedRow {
  readonly table: string
  readonly row: Readonly<Record<string, unknown>>
}

export const DUMP = TABLES.map(
  (table) =>
    `select '${table}' as "table", to_jsonb(one) - array[${LEFT_OUT.map((column) => `'${column}'`).join(', ')}] as row from dartwing.${table} as one`,
).join('\nunion all\n')
