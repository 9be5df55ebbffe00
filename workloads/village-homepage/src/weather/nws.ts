// The National Weather Service of the United States: forecasts of its grid points, and active alerts.
import { z } from 'zod'
import type { Outside } from '../outside/outside.ts'
import { jsonOf, ServiceFailed } from '../outside/service-call.ts'
import { DAYS, type Forecast, type ForecastDay, type Place, plain, type WeatherAlert } from './weather.ts'

const NAME = 'The National Weather Service'

const point = z.object({ properties: z.object({ forecast: z.url() }) })
const period = z.object({
  startTime: z.iso.datetime({ offset: true }),
  isDaytime: z.boolean(),
  temperature: z.number(),
  temperatureUnit: z.enum(['F', 'C']),
  shortForecast: z.string(),
  probabilityOfPrecipitation: z.object({ value: z.number().nullish() }).nullish(),
})
const forecast = z.object({ properties: z.object({ periods: z.array(period).min(1) }) })
const alert = z.object({
  properties: z.object({
    id: z.string().min(1).max(300),
    event: z.string(),
    severity: z.string(),
    headline: z.string().nullish(),
    ends: z.iso.datetime({ offset: true }).nullish(),
    expires: z.iso.datetime({ offset: true }).nullish(),
  }),
})
const alerts = z.object({ features: z.array(alert) })

type Period = z.output<typeof period>
type Found<T> = { readonly forecast: T; readonly forecastUrl: string }

export class WeatherService {
  readonly #outside: Outside

  constructor(outside: Outside) {
    this.#outside = outside
  }

  /** Where a place's forecast is, is asked once; the caller keeps it. */
  async forecast(place: Place, signal: AbortSignal): Promise<Found<Forecast>> {
    const { baseUrl } = this.#outside.addresses.nws
    // The service may have moved, as a sandbox does: an address elsewhere is asked for again.
    const known = place.forecastUrl?.startsWith(`${baseUrl}/`) === true ? place.forecastUrl : undefined
    const forecastUrl = known ?? (await this.#forecastUrl(place, signal))
    const { periods } = (await this.#ask(forecastUrl, forecast, signal)).properties
    return { forecast: { current: currentOf(periods), days: daysOf(periods) }, forecastUrl }
  }

  async alerts({ latitude, longitude }: Place, signal: AbortSignal): Promise<WeatherAlert[]> {
    const { features } = await this.#ask(this.#url(`/alerts/active?point=${latitude},${longitude}`), alerts, signal)
    return features.map(({ properties: { id, event, severity, headline, ends, expires } }) => ({
      id,
      event: plain(event),
      severity: plain(severity),
      headline: plain(headline, event) || plain(event),
      expiresAt: ends ?? expires ?? null,
    }))
  }

  async #forecastUrl({ latitude, longitude }: Place, signal: AbortSignal): Promise<string> {
    const found = (await this.#ask(this.#url(`/points/${latitude},${longitude}`), point, signal)).properties.forecast
    if (found.startsWith(`${this.#outside.addresses.nws.baseUrl}/`)) return found
    throw new ServiceFailed(NAME, 'named a forecast on another server')
  }

  #url(path: string): string {
    return `${this.#outside.addresses.nws.baseUrl}${path}`
  }

  async #ask<T>(url: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    const headers = { accept: 'application/geo+json', 'user-agent': this.#outside.addresses.nws.userAgent }
    const parsed = schema.safeParse(await jsonOf(this.#outside, { service: NAME, url, signal, headers }))
    if (parsed.success) return parsed.data
    throw new ServiceFailed(NAME, 'answered in a form that is not known', { cause: parsed.error })
  }
}

function currentOf([first]: readonly Period[]): Forecast['current'] {
  const { temperature, temperatureUnit: unit, shortForecast } = first as Period
  return { temperature, unit, summary: plain(shortForecast) }
}

/** A day has a period of daylight and one of night; today may have its night only. */
function daysOf(periods: readonly Period[]): ForecastDay[] {
  const dates = [...new Set(periods.map(dateOf))]
  return dates.slice(0, DAYS).map((date) => {
    const its = periods.filter((each) => dateOf(each) === date)
    const day = its.find(({ isDaytime }) => isDaytime)
    const night = its.find(({ isDaytime }) => !isDaytime)
    const { temperatureUnit: unit, shortForecast } = (day ?? night) as Period
    const rains = its.flatMap(({ probabilityOfPrecipitation: rain }) => rain?.value ?? [])
    return {
      ...{ date, unit, summary: plain(shortForecast) },
      high: day?.temperature ?? null,
      low: night?.temperature ?? null,
      rain: rains.length === 0 ? null : Math.max(...rains),
    }
  })
}

const dateOf = ({ startTime }: Period): string => startTime.slice(0, 10)
