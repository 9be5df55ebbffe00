// SQL about good sites: those that visitors submit, and what a capture has found.
import type { Queryable } from 'millrace'

const SUBMIT = `
insert into village.good_sites (url, title, category, status)
values ($1, $2, $3, 'pending')
on conflict (url) do nothing
returning id`

/** A site that could be shown is listed. Without a title of its own it is called by its page's. */
const CAPTURED = `
update village.good_sites
set status = case status when 'pending' then 'listed' else status end,
    title = case when title = split_part(split_part(url, '://', 2), '/', 1) and $2 <> '' then $2 else title end
where id = $1
returning id`

/** Undefined: the village has that address already. */
export async function submitSite(
  tx: Queryable,
  { url, title, category }: { url: string; title: string; category: string },
): Promise<string | undefined> {
  const { rows } = await tx.query(SUBMIT, [url, title, category])
  return (rows[0] as { id: string } | undefined)?.id
}

/** False: there is no such site any more. */
export async function keepCaptured(
  tx: Queryable,
  { siteId, title }: { siteId: string; title: string },
): Promise<boolean> {
  return (await tx.query(CAPTURED, [siteId, title])).rows.length > 0
}
