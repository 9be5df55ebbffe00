-- What the analysis of places needs beyond their squares.

-- A computation asks for the highest revision that it sees.
create index sports_site_latest_idx on lipas.sports_site (revision);

alter table lipas.population_cell add column municipality text not null default 'Kaislajoki';
alter table lipas.population_cell alter column municipality drop default;
