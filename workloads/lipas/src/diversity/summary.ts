// The diversity of whole municipalities, from that of their squares.
import type { Queryable } from 'millrace'

const LOCK = 'lipas diversity summary'

/** Of the municipalities to which these squares belong. Run it in a transaction: it takes turns with other analyses. */
export async function summarise(tx: Queryable, ids: readonly string[]): Promise<void> {
  // Otherwise the one that looked first might write last.
  await tx.query('select pg_advisory_xact_lock(hashtext($1))', [LOCK])
  await tx.query(
    `insert into lipas.diversity_summary
       (municipality, cells, mean, median, mode, weighted_mean, computed_at)
     select municipality, count(*), round(avg(index), 4), percentile_cont(0.5) within group (order by index),
       mode() within group (order by index), round(sum(index * population) / nullif(sum(population), 0), 4), now()
     from lipas.diversity_cell
     join lipas.population_cell using (cell_id)
     where municipality in (select municipality from lipas.population_cell where cell_id = any($1))
     group by municipality
     on conflict (municipality) do update
     set cells = excluded.cells, mean = excluded.mean, median = excluded.median, mode = excluded.mode,
       weighted_mean = excluded.weighted_mean, computed_at = excluded.computed_at`,
    [[...ids]],
  )
}
