// WEATHER_REFRESH: forecasts of all places, or the alerts of those that the Weather Service covers.
import { cancel, type JobContext, type Outcome } from 'millrace'
import type { VillageParts } from '../village-parts.ts'
import { WeatherService } from './nws.ts'
import { OpenMeteo } from './open-meteo.ts'
import type { Place } from './weather.ts'
import { keepAlerts, keepForecast, placesOf } from './weather-store.ts'

export interface WeatherPayload {
  readonly kind: 'forecast' | 'alerts'
  readonly location_id?: string | undefined
}

export interface WeatherResult {
  readonly kind: 'forecast' | 'alerts'
  readonly refreshed: number
  readonly stale: number
  readonly alerts_new: number
  readonly alerts_ended: number
}

type Told = { readonly isNew: number; readonly ended: number }
const NOTHING: Told = { isNew: 0, ended: 0 }

export class WeatherRefresh {
  readonly #parts: VillageParts
  readonly #nws: WeatherService
  readonly #openMeteo: OpenMeteo

  constructor(parts: VillageParts) {
    this.#parts = parts
    this.#nws = new WeatherService(parts.outside)
    this.#openMeteo = new OpenMeteo(parts.outside)
  }

  /** One place after the other. A place that fails keeps what it has; the run fails if all of them do. */
  async run({ kind, location_id: id }: WeatherPayload, ctx: JobContext): Promise<WeatherResult | Outcome> {
    const provider = kind === 'alerts' ? ('nws' as const) : undefined
    const places = await placesOf(this.#parts.database, { id, provider })
    if (id !== undefined && places.length === 0)
      return cancel(`There is no place ${id} whose ${kind} can be asked for.`)
    const errors: unknown[] = []
    const told: Told[] = []
    for (const place of places) {
      ctx.signal.throwIfAborted()
      try {
        const kept = await ctx.breaker(place.provider, () => this.#refresh(kind, place, ctx.signal), {
          fallback: () => undefined,
        })
        if (kept !== undefined) told.push(kept)
      } catch (error) {
        ctx.signal.throwIfAborted()
        errors.push(error)
        ctx.log.warn({ err: error, place: place.name, kind }, 'the weather of a place could not be refreshed')
      }
    }
    if (errors.length > 0 && errors.length === places.length) throw errors[0]
    return {
      kind,
      refreshed: told.length,
      stale: places.length - told.length,
      alerts_new: told.reduce((sum, { isNew }) => sum + isNew, 0),
      alerts_ended: told.reduce((sum, { ended }) => sum + ended, 0),
    }
  }

  async #refresh(kind: WeatherPayload['kind'], place: Place, signal: AbortSignal): Promise<Told> {
    const { database, clock } = this.#parts
    if (kind === 'alerts') {
      const alerts = await this.#nws.alerts(place, signal)
      return keepAlerts(database, place, { alerts, now: clock.now() })
    }
    const { forecast, forecastUrl } =
      place.provider === 'nws'
        ? await this.#nws.forecast(place, signal)
        : { forecast: await this.#openMeteo.forecast(place, signal), forecastUrl: null }
    await keepForecast(database, place, { forecast, forecastUrl, now: clock.now() })
    return NOTHING
  }
}
