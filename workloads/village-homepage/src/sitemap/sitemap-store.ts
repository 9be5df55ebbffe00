// SQL of the sitemap: a new generation is written beside the current one, and takes its place in one transaction.
import type { Queryable } from 'millrace'
import type { SitemapFile } from './sitemap-files.ts'

const BEGIN = `
insert into village.sitemap_generations (written_at)
values ($1)
returning id`

const ADD = `
insert into village.sitemap_files (generation, name, urls, bytes)
values ($1, $2, $3, $4)`

/** Also what runs have left that were cut off. A run that is still writing fails at its next file. */
const FORGET = `
delete from village.sitemap_generations
where id <> $1
  and state <> 'current'`

const RETIRE = `
update village.sitemap_generations
set state = 'previous'
where state = 'current'`

const INSTALL = `
update village.sitemap_generations
set state = 'current'
where id = $1
returning id`

const CURRENT = `
select generation.written_at as "writtenAt", array_agg(file.name order by length(file.name), file.name) as names
from village.sitemap_generations as generation
join village.sitemap_files as file on file.generation = generation.id
where generation.state = 'current'
group by generation.id`

const PART = `
select file.bytes
from village.sitemap_files as file
join village.sitemap_generations as generation on generation.id = file.generation
where generation.state = 'current'
  and file.name = $1`

export async function beginGeneration(db: Queryable, at: Date): Promise<string> {
  return String(((await db.query(BEGIN, [at])).rows as { id: string }[])[0]?.id)
}

export async function addFile(db: Queryable, generation: string, { name, urls, bytes }: SitemapFile): Promise<void> {
  await db.query(ADD, [generation, name, urls, bytes])
}

/** The generation before the current one is kept. Throws if another run has taken this one away. */
export async function install(tx: Queryable, generation: string): Promise<void> {
  await tx.query(FORGET, [generation])
  await tx.query(RETIRE)
  const { rows } = await tx.query(INSTALL, [generation])
  if (rows.length === 0) throw new Error('Another run has replaced the sitemap meanwhile.')
}

export interface CurrentSitemap {
  readonly writtenAt: Date
  readonly names: readonly string[]
}

/** Undefined: none was written yet. */
export const currentSitemap = async (db: Queryable): Promise<CurrentSitemap | undefined> =>
  ((await db.query(CURRENT)).rows as CurrentSitemap[])[0]

export const sitemapPart = async (db: Queryable, name: string): Promise<Buffer | undefined> =>
  ((await db.query(PART, [name])).rows as { bytes: Buffer }[])[0]?.bytes
