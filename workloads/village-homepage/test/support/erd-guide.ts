// Writes docs/diagrams/erd-guide.md from a database that was migrated.
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'

const MIGRATIONS = new URL('../../migrations/', import.meta.url)

/** Which migrations a section is about, by their names. */
const SECTIONS = [
  { title: 'News', files: ['feeds', 'tagging'] },
  { title: 'Quotes, weather and settings', files: ['market'] },
  { title: 'Sites, clicks and the sitemap', files: ['sites', 'sitemap'] },
  { title: 'Neighbours and their mail', files: ['people', 'mail'] },
  { title: 'Social accounts and pictures', files: ['social', 'media'] },
] as const

const COLUMNS = `
select
  quote_ident(attname) as name,
  format_type(atttypid, atttypmod) as type,
  attnotnull as "isNotNull",
  coalesce(pg_get_expr(adbin, adrelid), case attidentity when 'a' then 'always as identity' else '' end) as "default"
from pg_attribute
left join pg_attrdef on adrelid = attrelid and adnum = attnum
where attrelid = $1::regclass
  and attnum > 0
  and not attisdropped
order by attnum`

const CONSTRAINTS = `
select pg_get_constraintdef(oid) as text, contype::text as kind, confrelid::regclass::text as target
from pg_constraint
where conrelid = $1::regclass
  and contype <> 'n'
order by array_position('{p,u,f,c}', contype::text), conname collate "C"`

const INDEXES = `
select relname as name, pg_get_indexdef(indexrelid) as text
from pg_index
join pg_class on pg_class.oid = indexrelid
where indrelid = $1::regclass
  and not exists (select from pg_constraint where conindid = indexrelid)
order by relname collate "C"`

interface Column {
  readonly name: string
  readonly type: string
  readonly isNotNull: boolean
  readonly default: string
}

interface Constraint {
  readonly text: string
  readonly kind: string
  readonly target: string
}

export async function erdGuide(pool: pg.Pool): Promise<string> {
  const parts = [HEAD]
  for (const [i, { title, files }] of SECTIONS.entries()) {
    const tables = files.flatMap((file) => tablesOf(file))
    parts.push(`## ${i + 1} ${title}\n`, await picture(pool, tables))
    for (const [j, table] of tables.entries()) parts.push(await chapter(pool, table, `${i + 1}.${j + 1}`))
  }
  parts.push(JOBS_HEAD, await columnsOf(pool, 'millrace.delayed_jobs', 'Type'), JOBS_FOOT)
  return `${parts.join('\n').trimEnd()}\n`
}

/** In the order in which the migration makes them. */
function tablesOf(name: string): string[] {
  const file = readdirSync(MIGRATIONS).find((each) => each.endsWith(`_${name}.sql`))
  if (file === undefined) throw new Error(`There is no migration ${name}. A section of erd-guide.ts names it.`)
  const text = readFileSync(new URL(file, MIGRATIONS), 'utf8')
  return [...text.matchAll(/^create table (village\.\w+)/gm)].map(([, table = '']) => table)
}

async function chapter(pool: pg.Pool, table: string, number: string): Promise<string> {
  const { rows: constraints } = await pool.query<Constraint>(CONSTRAINTS, [table])
  const { rows: indexes } = await pool.query<{ name: string; text: string }>(INDEXES, [table])
  const lines = [
    ...constraints.map(({ text }) => `- ${code(text)}`),
    ...indexes.map(({ name, text }) => `- index \`${name}\`: ${code(text.replace(/^.* USING /, ''))}`),
  ]
  return `### ${number} \`${table.replace('village.', '')}\`\n\n${await columnsOf(pool, table)}\n${lines.join('\n')}\n`
}

async function columnsOf(pool: pg.Pool, table: string, only?: 'Type'): Promise<string> {
  const { rows } = await pool.query<Column>(COLUMNS, [table])
  if (only !== undefined)
    return ['| column | type |', '| --- | --- |', ...rows.map(({ name, type }) => `| ${name} | ${type} |`), ''].join(
      '\n',
    )
  const lines = rows.map(
    ({ name, type, isNotNull, default: value }) =>
      `| ${name} | ${type} | ${isNotNull ? '' : 'yes'} | ${value === '' ? '' : code(value.replaceAll('|', '\\|'))} |`,
  )
  return ['| column | type | null | default |', '| --- | --- | --- | --- |', ...lines, ''].join('\n')
}

/** References between the tables of a section, and to those of others. */
async function picture(pool: pg.Pool, tables: readonly string[]): Promise<string> {
  const lines: string[] = []
  const short = (name: string): string => name.replace('village.', '')
  for (const table of tables) {
    const { rows } = await pool.query<Constraint>(CONSTRAINTS, [table])
    const references = rows.filter(({ kind }) => kind === 'f')
    if (references.length === 0) lines.push(`  ${short(table)}`)
    for (const { target, text } of references)
      lines.push(`  ${short(target)} ||--o{ ${short(table)} : "${/\(([^)]+)\)/.exec(text)?.[1]}"`)
  }
  return ['```mermaid', 'erDiagram', ...lines, '```', ''].join('\n')
}

const code = (text: string): string => `\`${text}\``

const HEAD = `# Tables of Village Homepage

Written from the migrations by a test; change those, not this page. All tables are in the schema \`village\`; \`rss_sources\`,
\`feed_items\` and \`ai_usage_tracking\` are also views in \`public\`, so that operators find them without a schema.
`

const JOBS_HEAD = `## 6 Jobs

Jobs are stored by Millrace, in its schema. [schema.sql](../../packages/engine/schema.sql) has all of it.

### 6.1 \`delayed_jobs\`

A view of the jobs that have not ended, in the shape that queries by hand expect. \`queue\` and \`job_type\` are the names of the
contracts, and a lower \`priority\` comes first. Jobs that have ended are in \`millrace.jobs\`.
`

const JOBS_FOOT = `The table behind it, \`millrace.job\`, has the indexes for polling a queue, for finding runs whose worker has died, and for counting
by type.

### 6.2 \`delayed_jobs_dlq\`

The same columns of jobs that have died, with \`failed_at\`, \`reason\` and \`dead_letter_id\`:
\`millrace dead\` lists them, \`millrace retry\` gives one back to work.
`
