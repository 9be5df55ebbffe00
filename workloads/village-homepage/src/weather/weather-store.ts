// SQL about places, their forecasts and their alerts.
import type { Queryable } from 'millrace'
import type { VillageConfig } from '../config/read.ts'
import type { Forecast, Place, WeatherAlert } from './weather.ts'

const FOLLOW = `
with given as (
  select *
  from jsonb_to_recordset($1::jsonb)
    as given (name text, latitude numeric, longitude numeric, time_zone text, provider text)
),
gone as (
  delete from village.weather_locations
  where name not in (select name from given)
)
insert into village.weather_locations as place (name, latitude, longitude, time_zone, provider)
select name, latitude, longitude, time_zone, provider
from given
on conflict (name) do update
set latitude = excluded.latitude,
    longitude = excluded.longitude,
    time_zone = excluded.time_zone,
    provider = excluded.provider,
    nws_forecast_url = null
where (place.latitude, place.longitude, place.time_zone, place.provider)
  is distinct from (excluded.latitude, excluded.longitude, excluded.time_zone, excluded.provider)`

const PLACES = `
select id, name, latitude::float8, longitude::float8, time_zone as "timeZone", provider, nws_forecast_url as "forecastUrl"
from village.weather_locations
where ($1::uuid is null or id = $1)
  and ($2::text is null or provider = $2)
order by name`

const KEEP_FORECAST = `
with address as (
  update village.weather_locations
  set nws_forecast_url = $5
  where id = $1
    and nws_forecast_url is distinct from $5
)
insert into village.weather_forecasts (location_id, current, days, fetched_at)
select id, $2, $3, $4
from village.weather_locations
where id = $1
on conflict (location_id) do update
set current = excluded.current, days = excluded.days, fetched_at = excluded.fetched_at
where weather_forecasts.fetched_at <= excluded.fetched_at`

/** An alert that is no longer told has ended. */
const KEEP_ALERTS = `
with given as (
  select *
  from jsonb_to_recordset($2::jsonb)
    as given (id text, event text, severity text, headline text, "expiresAt" timestamptz)
),
told as (
  insert into village.weather_alerts as alert (location_id, alert_id, event, severity, headline, expires_at)
  select distinct on (given.id) place.id, given.id, event, severity, headline, "expiresAt"
  from given
  cross join village.weather_locations as place
  where place.id = $1
  on conflict (location_id, alert_id) do update
  set event = excluded.event,
      severity = excluded.severity,
      headline = excluded.headline,
      expires_at = excluded.expires_at,
      ended_at = null
  returning (xmax = 0) as is_new
),
ended as (
  update village.weather_alerts
  set ended_at = $3
  where location_id = $1
    and ended_at is null
    and alert_id not in (select id from given)
  returning alert_id
)
select
  (select count(*) from told where is_new)::integer as "isNew",
  (select count(*) from ended)::integer as ended`

/** The places of the configuration, and no others. */
export async function followPlaces(db: Queryable, { weather }: VillageConfig): Promise<void> {
  const rows = weather.locations.map(({ timeZone, ...place }) => ({ ...place, time_zone: timeZone }))
  await db.query(FOLLOW, [JSON.stringify(rows)])
}

export interface PlaceFilter {
  readonly id?: string | undefined
  readonly provider?: Place['provider'] | undefined
}

export async function placesOf(db: Queryable, { id, provider }: PlaceFilter): Promise<Place[]> {
  return (await db.query(PLACES, [id ?? null, provider ?? null])).rows as Place[]
}

export interface KeptForecast {
  readonly forecast: Forecast
  readonly forecastUrl: string | null
  readonly now: Date
}

export async function keepForecast(db: Queryable, place: Place, kept: KeptForecast): Promise<void> {
  const { forecast, forecastUrl, now } = kept
  await db.query(KEEP_FORECAST, [
    ...[place.id, JSON.stringify(forecast.current), JSON.stringify(forecast.days), now, forecastUrl],
  ])
}

export async function keepAlerts(
  db: Queryable,
  place: Place,
  { alerts, now }: { alerts: readonly WeatherAlert[]; now: Date },
): Promise<{ isNew: number; ended: number }> {
  const { rows } = await db.query(KEEP_ALERTS, [place.id, JSON.stringify(alerts), now])
  return rows[0] as { isNew: number; ended: number }
}
