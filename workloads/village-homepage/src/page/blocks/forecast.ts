// Five days of weather for each place.
import { html } from 'hono/html'
import type { ForecastDay } from '../../weather/weather.ts'
import { jobNote } from '../job-note.ts'
import { type ForecastRow, forecastsOf } from '../page-store.ts'
import { dateOf, dayName } from '../time-words.ts'
import type { Block, Html } from '../view.ts'

const DAYS = 5

export const forecast: Block = {
  name: 'forecast',
  async render(view) {
    const places = await forecastsOf(view.parts.database)
    const times = places.flatMap(({ fetchedAt }) => (fetchedAt === null ? [] : [fetchedAt.getTime()]))
    const at = times.length === 0 ? undefined : new Date(Math.min(...times))
    const body =
      at === undefined
        ? html`<p class="empty">No forecast yet. It comes with the first look at the sky.</p>`
        : places.map((place) => tableOf(place, view.now))
    return html`<h2 id="forecast">Forecast</h2>
${body}
${jobNote(view, { type: 'WEATHER_REFRESH', at, schedules: ['weather-forecast'] })}`
  },
}

function tableOf({ name, timeZone, days }: ForecastRow, now: Date): Html {
  if (days === null) return html`<p class="empty">No forecast for ${name} yet.</p>`
  const first = dateOf(now, timeZone)
  const shown = days.filter(({ date }) => date >= first).slice(0, DAYS)
  if (shown.length === 0) return html`<p class="empty">The last forecast for ${name} is over.</p>`
  return html`<table class="forecast"><caption>${name}</caption>
<thead class="hidden"><tr><th scope="col">Day</th><th scope="col">Weather</th><th scope="col">Temperature</th></tr></thead>
<tbody>${shown.map((day) => row(day, dayName(day.date, { now, timeZone })))}</tbody></table>`
}

function row({ summary, high, low, unit, rain }: ForecastDay, name: string): Html {
  const degrees = (value: number | null): string => (value === null ? '–' : `${Math.round(value)}°`)
  return html`<tr><th scope="row">${name}</th>
<td>${summary}${rain === null ? '' : html`<small>${Math.round(rain)} % rain</small>`}</td>
<td><span class="hidden">high </span>${degrees(high)}<span class="low"><span class="hidden">, low </span>${degrees(low)}</span><span class="hidden"> ${unit === 'F' ? 'Fahrenheit' : 'Celsius'}</span></td></tr>`
}
