import type { Setup } from './setup.ts'

/** Every value of every text, jsonb and array column of the schema, as a dump would hold it. The ledger of migrations holds file names only. */
export async function everyText(t: Setup): Promise<string> {
  const columns = await t.sql<{ table: string; column: string }>(
    `select format('%I.%I', table_schema, table_name) as table, format('%I', column_name) as column
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'millrace' and table_name <> 'migration' and table_type = 'BASE TABLE' and data_type in ('text', 'jsonb', 'ARRAY')`,
  )
  const parts = await Promise.all(
    columns.map(({ table, column }) =>
      t.sql<{ all: string | null }>(`select string_agg(${column}::text, chr(10)) as all from ${table}`),
    ),
  )
  return parts.map(([row]) => row?.all ?? '').join('\n')
}
