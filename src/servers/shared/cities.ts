/**
 * The cities other than the home city, with their hotels (used by the map and the travel agency)
 * and their sights. Positions are metres north and east of the centre.
 */

export interface City {
  readonly name: string;
  readonly country: string;
  /** Three letters. */
  readonly airport: string;
  /** Degrees north and east. */
  readonly latitude: number;
  readonly longitude: number;
  /** Metres above sea level. */
  readonly elevation: number;
  readonly timezone: string;
}

const city = (
  name: string,
  country: string,
  airport: string,
  latitude: number,
  longitude: number,
  elevation: number,
  timezone: string,
): City => ({ name, country, airport, latitude, longitude, elevation, timezone });

export const otherCities: readonly City[] = [
  city("Hamburg", "Germany", "HAM", 53.5511, 9.9937, 6, "Europe/Berlin"),
  city("Lyon", "France", "LYS", 45.764, 4.8357, 173, "Europe/Paris"),
  city("Porto", "Portugal", "OPO", 41.1579, -8.6291, 104, "Europe/Lisbon"),
  city("Lisbon", "Portugal", "LIS", 38.7223, -9.1393, 15, "Europe/Lisbon"),
  city("Madrid", "Spain", "MAD", 40.4168, -3.7038, 657, "Europe/Madrid"),
  city("Paris", "France", "CDG", 48.8566, 2.3522, 35, "Europe/Paris"),
  city("Berlin", "Germany", "BER", 52.52, 13.405, 34, "Europe/Berlin"),
  city("Amsterdam", "Netherlands", "AMS", 52.3676, 4.9041, 2, "Europe/Amsterdam"),
  city("London", "United Kingdom", "LHR", 51.5074, -0.1278, 11, "Europe/London"),
  city("Barcelona", "Spain", "BCN", 41.3874, 2.1686, 12, "Europe/Madrid"),
  city("Milan", "Italy", "MXP", 45.4642, 9.19, 120, "Europe/Rome"),
  city("Copenhagen", "Denmark", "CPH", 55.6761, 12.5683, 5, "Europe/Copenhagen"),
  city("Vienna", "Austria", "VIE", 48.2082, 16.3738, 171, "Europe/Vienna"),
  city("Dublin", "Ireland", "DUB", 53.3498, -6.2603, 17, "Europe/Dublin"),
];

export interface CityPlace {
  readonly city: string;
  readonly name: string;
  readonly address: string;
  readonly north: number;
  readonly east: number;
}

export interface CityHotel extends CityPlace {
  readonly stars: 2 | 3 | 4 | 5;
}

const hotel = (
  city: string,
  name: string,
  stars: CityHotel["stars"],
  address: string,
  north: number,
  east: number,
): CityHotel => ({
  city,
  name,
  stars,
  address,
  north,
  east,
});

export const hotels: readonly CityHotel[] = [
  hotel("Hamburg", "Hotel Speicher", 4, "12 Brooktorkai", -600, 400),
  hotel("Hamburg", "Alster House", 5, "30 Neuer Jungfernstieg", 700, -150),
  hotel("Hamburg", "Kiez Inn", 2, "88 Reeperbahn", -100, -2300),
  hotel("Lyon", "Hôtel des Traboules", 4, "9 Rue Saint-Jean", 100, -700),
  hotel("Lyon", "Presqu'île Suites", 3, "41 Rue Mercière", -150, -150),
  hotel("Lyon", "Part-Dieu Express", 2, "18 Rue Servient", 0, 1800),
  hotel("Porto", "Ribeira Rooms", 3, "22 Cais da Ribeira", -1900, 1200),
  hotel("Porto", "Casa do Douro", 4, "7 Rua das Flores", -1300, 1300),
  hotel("Porto", "Bolhão Hostel", 2, "105 Rua Formosa", -900, 1900),
  hotel("Lisbon", "Alfama Terrace", 4, "16 Rua de São Miguel", -1000, 900),
  hotel("Lisbon", "Hotel Rossio Square", 3, "3 Praça Dom Pedro", -900, -50),
  hotel("Lisbon", "Belém Palace", 5, "50 Rua de Belém", -2700, -5600),
  hotel("Madrid", "Hotel Retiro", 4, "60 Calle de Alcalá", 400, 1300),
  hotel("Madrid", "Gran Vía Central", 3, "28 Gran Vía", 350, 100),
  hotel("Madrid", "Hostal Lavapiés", 2, "14 Calle del Olmo", -700, 200),
  hotel("Paris", "Hôtel du Canal", 3, "71 Quai de Valmy", 1700, 900),
  hotel("Paris", "Le Petit Marais", 4, "8 Rue de Sévigné", -100, 800),
  hotel("Paris", "Palais Vendôme", 5, "19 Rue de la Paix", 1400, -1500),
  hotel("Berlin", "Spree Loft Hotel", 3, "33 Holzmarktstraße", -900, 1500),
  hotel("Berlin", "Hotel Gendarm", 4, "52 Charlottenstraße", -700, -900),
  hotel("Berlin", "Kreuzberg Budget", 2, "9 Oranienstraße", -2100, 900),
  hotel("Amsterdam", "Herengracht House", 4, "214 Herengracht", 100, -700),
  hotel("Amsterdam", "The Windmill", 3, "40 Haarlemmerdijk", 1200, -900),
  hotel("Amsterdam", "Dockyard Pods", 2, "11 NDSM-Plein", 3600, -600),
  hotel("London", "Bloomsbury Arms", 3, "27 Russell Square", 1500, 100),
  hotel("London", "The Embankment", 5, "1 Savoy Place", 300, 500),
  hotel("London", "Paddington Stay", 2, "64 Praed Street", 900, -3300),
  hotel("Barcelona", "Hotel Born", 4, "23 Passeig del Born", -200, 1200),
  hotel("Barcelona", "Eixample Gardens", 3, "180 Carrer de Mallorca", 700, -500),
  hotel("Barcelona", "Gòtic Hostel", 2, "6 Carrer d'Avinyó", -500, 700),
  hotel("Milan", "Hotel Navigli", 3, "35 Alzaia Naviglio Grande", -1500, -1200),
  hotel("Milan", "Duomo Residence", 5, "2 Via Torino", -50, -100),
  hotel("Milan", "Centrale Inn", 2, "15 Via Vitruvio", 2200, 1300),
  hotel("Copenhagen", "Nyhavn Quay Hotel", 4, "71 Nyhavn", 400, 1600),
  hotel("Copenhagen", "Vesterbro Rooms", 3, "49 Istedgade", -500, -700),
  hotel("Copenhagen", "Harbour Cabins", 2, "10 Refshalevej", 1700, 2900),
  hotel("Vienna", "Hotel am Ring", 5, "16 Kärntner Ring", -600, -100),
  hotel("Vienna", "Josefstadt Pension", 3, "22 Lange Gasse", 200, -1400),
  hotel("Vienna", "Prater Lodge", 2, "5 Ausstellungsstraße", 1300, 1900),
  hotel("Dublin", "Liffey View", 4, "18 Bachelors Walk", -100, 100),
  hotel("Dublin", "Georgian Court", 3, "77 Lower Gardiner Street", 400, 700),
  hotel("Dublin", "Temple Hostel", 2, "19 Fleet Street", -400, 100),
];

export interface Sight extends CityPlace {
  readonly category: "landmark" | "museum" | "park" | "viewpoint" | "restaurant" | "cafe";
}

const sight = (
  city: string,
  category: Sight["category"],
  name: string,
  address: string,
  north: number,
  east: number,
): Sight => ({
  city,
  category,
  name,
  address,
  north,
  east,
});

export const sights: readonly Sight[] = [
  sight("Hamburg", "museum", "Miniature Railway Hall", "2 Kehrwieder", -700, -100),
  sight("Lyon", "viewpoint", "Fourvière Terrace", "8 Place de Fourvière", -200, -1100),
  sight("Porto", "landmark", "Clérigos Tower", "1 Rua de São Filipe de Nery", -1300, 1250),
  sight("Lisbon", "landmark", "Belém Tower", "1 Avenida Brasília", -3300, -6600),
  sight("Lisbon", "cafe", "Pastelaria Alfama", "31 Rua dos Remédios", -900, 1100),
  sight("Madrid", "museum", "Prado Museum", "23 Paseo del Prado", -300, 1000),
  sight("Madrid", "park", "Retiro Park", "7 Plaza de la Independencia", -100, 1700),
  sight("Paris", "landmark", "Eiffel Tower", "5 Avenue Anatole France", 200, -4200),
  sight("Paris", "restaurant", "Bistro Valmy", "90 Quai de Valmy", 1800, 950),
  sight("Berlin", "landmark", "Brandenburg Gate", "1 Pariser Platz", -400, -1900),
  sight("Amsterdam", "museum", "Rijksmuseum", "1 Museumstraat", -800, -1300),
  sight("London", "museum", "British Museum", "44 Great Russell Street", 1400, 80),
  sight("London", "park", "Hyde Park", "1 Serpentine Road", 0, -2600),
  sight("Barcelona", "park", "Park Güell", "5 Carrer d'Olot", 3000, -1300),
  sight("Milan", "landmark", "Duomo di Milano", "1 Piazza del Duomo", 0, 150),
  sight("Copenhagen", "park", "Tivoli Gardens", "3 Vesterbrogade", -300, 0),
  sight("Vienna", "park", "Schönbrunn Gardens", "47 Schönbrunner Schloßstraße", -2500, -4500),
  sight("Dublin", "landmark", "Ha'penny Bridge", "1 Wellington Quay", -400, -150),
];
