// Writes the invented municipality to the tables of the register, once: a register that has places is left as it is.
import type { Queryable } from 'millrace'
import type { LipasDatabase } from '../database/pool.ts'
import { boxText } from '../geometry/bounds.ts'
import { boundsOfPlace } from '../geometry/shape.ts'
import { mapFeatures } from './map-features.ts'
import { type Municipality, municipality } from './municipality.ts'

const LOCK = 'lipas sample data'

/** Ids of the places that were written; none if the register was filled before. */
export function loadSampleData(database: LipasDatabase, data: Municipality = municipality()): Promise<number[]> {
  return database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(hashtext($1))', [LOCK])
    const { rows } = await tx.query('select 1 from lipas.sports_site limit 1')
    if (rows.length > 0) return []
    await writeCatalogue(tx, data)
    await writePopulation(tx, data)
    await writePlaces(tx, data)
    await writeLois(tx, data)
    await writeMap(tx)
    await writeReminders(tx)
    return data.places.map(({ lipasId }) => lipasId)
  })
}

async function writeCatalogue(tx: Queryable, { siteTypes, categories }: Municipality): Promise<void> {
  await tx.query(
    `insert into lipas.site_type (type_code, name, geometry_type)
     select "typeCode", name, "geometryType"
     from jsonb_to_recordset($1) as given ("typeCode" int, name text, "geometryType" text)
     on conflict (type_code) do nothing`,
    [JSON.stringify(siteTypes)],
  )
  await tx.query(
    `insert into lipas.diversity_category (name, type_codes, factor)
     select name, "typeCodes", factor
     from jsonb_to_recordset($1) as given (name text, "typeCodes" int[], factor numeric)
     on conflict (name) do nothing`,
    [JSON.stringify(categories)],
  )
}

async function writePopulation(tx: Queryable, { name, cells }: Municipality): Promise<void> {
  const rows = cells.map(({ centre: [east, north], ...cell }) => ({ ...cell, centre: `(${east},${north})` }))
  await tx.query(
    `insert into lipas.population_cell (cell_id, municipality, centre, population, age_0_14, age_15_64, age_65)
     select "cellId", $2, centre::point, population, "age0to14", "age15to64", "age65"
     from jsonb_to_recordset($1) as given
       ("cellId" text, centre text, population int, "age0to14" int, "age15to64" int, "age65" int)`,
    [JSON.stringify(rows), name],
  )
}

async function writePlaces(tx: Queryable, { places }: Municipality): Promise<void> {
  const rows = places.map((place) => ({ ...place, bounds: boxText(boundsOfPlace(place.geometries)) }))
  await tx.query(
    `insert into lipas.sports_site (lipas_id, event_date, status, type_code, name, owner_email, geometries, bounds)
     select "lipasId", "eventDate", status, "typeCode", name, "ownerEmail", geometries, bounds::box
     from jsonb_to_recordset($1) as given ("lipasId" int, "eventDate" timestamptz, status text, "typeCode" int,
       name text, "ownerEmail" text, geometries jsonb, bounds text)`,
    [JSON.stringify(rows)],
  )
}

async function writeLois(tx: Queryable, { lois }: Municipality): Promise<void> {
  await tx.query(
    `insert into lipas.loi (id, event_date, loi_type, geometries)
     select id, "eventDate", "loiType", geometries
     from jsonb_to_recordset($1) as given (id int, "eventDate" timestamptz, "loiType" text, geometries jsonb)`,
    [JSON.stringify(lois)],
  )
}

async function writeMap(tx: Queryable): Promise<void> {
  await tx.query(
    `insert into lipas.map_feature (id, kind, name, geometries)
     select id, kind, name, geometries
     from jsonb_to_recordset($1) as given (id int, kind text, name text, geometries jsonb)
     on conflict (id) do nothing`,
    [JSON.stringify(mapFeatures())],
  )
}

/**
 * Of every open place, a year after its last save. Those that would be long overdue come in the next days. The one that is due
 * at once bounces for good: it shows what becomes of a mail that nobody takes.
 */
async function writeReminders(tx: Queryable): Promise<void> {
  await tx.query(
    `insert into lipas.reminder (lipas_id, email, event_date)
     select lipas_id, case when lipas_id = 123 then 'nobody@example.org' else owner_email end,
       case when lipas_id = 123 then now()
         else greatest(event_date + interval '1 year', now() + (lipas_id % 20) * interval '1 day') end
     from lipas.sports_site
     where status <> 'out-of-service-permanently'`,
  )
}
