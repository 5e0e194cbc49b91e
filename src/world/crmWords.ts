/** What the CRM's part of a world draws from where the canon has no names: people and firms that only ask, projects, tasks, notes. Knows no rows. */

/** First names that no one in the canon has. */
export const firstNames: readonly string[] = [
  "Adela", "Agnes", "Aldo", "Alina", "Amara", "Andrei", "Arlo", "Astrid", "Bastien", "Bianca", "Bruno", "Carmen", "Cecile", "Conrad", "Dalia", "Darius", "Delia", "Dominik", "Edda", "Edgar",
  "Elena", "Emil", "Enzo", "Erika", "Esther", "Fabian", "Felicia", "Fergus", "Fiona", "Florian", "Gabor", "Gemma", "Giulia", "Gustav", "Hedda", "Henrik", "Ida", "Ignacio", "Ilse", "Irina",
  "Ivan", "Jasmin", "Joachim", "Josefine", "Juno", "Kaspar", "Katja", "Klara", "Konrad", "Larissa", "Lazlo", "Leonor", "Lorenz", "Lucia", "Magnus", "Malin", "Marta", "Matilda", "Maxim", "Mina",
  "Nikolai", "Nuria", "Olga", "Otto", "Paloma", "Pascal", "Paulina", "Philippa", "Rafael", "Ramona", "Rasmus", "Renata", "Robin", "Roman", "Sabine", "Sander", "Sidonie", "Silas", "Stella", "Sven",
  "Tamara", "Tessa", "Theo", "Tilda", "Tristan", "Valerie", "Vito", "Wanda", "Willem", "Xenia", "Yannick", "Yara", "Zelda", "Zora",
];

export const lastNames: readonly string[] = [
  "Abreu", "Ackermann", "Bakker", "Barros", "Baumann", "Bellini", "Bergeron", "Bouchard", "Cabrera", "Caruso", "Czerny", "Delgado", "Dubois", "Eriksen", "Esposito", "Falk", "Ferreira", "Fontaine", "Garrido", "Grimaldi",
  "Haas", "Hallberg", "Hoffer", "Iversen", "Jansen", "Kaplan", "Keller", "Kowal", "Lambert", "Leclerc", "Lopes", "Lund", "Madsen", "Marchetti", "Molina", "Navarro", "Nilsson", "Ortega", "Pereira", "Quint",
  "Rinaldi", "Romero", "Sandberg", "Schuster", "Soares", "Steiner", "Thorsen", "Ulrich", "Vidal", "Wagner", "Wolff", "Zeller",
];

interface FirmBeyond {
  readonly name: string;
  readonly industry: string;
  readonly domain: string;
}

const beyond: readonly (readonly [string, string])[] = [
  ["Castaway Furnishings", "Furniture"], ["Gannet Sailing School", "Sports"], ["Hopfield Brewery", "Food"], ["Sundial Solar", "Energy"], ["Marlowe Pianos", "Music"], ["Quince Catering", "Hospitality"], ["Rookery Press", "Publishing"],
  ["Basalt Architects", "Architecture"], ["Bellflower Clinic", "Health care"], ["Cinder Ceramics", "Crafts"], ["Driftline Surf", "Sports"], ["Ember Coffee", "Food"], ["Fathom Divers", "Tourism"], ["Gables Realty", "Property"], ["Hazel Nursery Gardens", "Gardening"],
  ["Inkwell Academy", "Education"], ["Juniper Toys", "Retail"], ["Kiteworks Software", "Software"], ["Lodestar Travel", "Tourism"], ["Mosswood Outfitters", "Retail"], ["Nightingale Radio", "Media"], ["Oxbow Bicycles", "Transport"], ["Pebble Hearing", "Health care"], ["Quayside Rowing Club", "Sports"],
  ["Ravel Textiles", "Textiles"], ["Saltmarsh Spa", "Hospitality"], ["Tamarind Kitchen", "Hospitality"], ["Umber Paints", "Crafts"], ["Vantage Surveyors", "Property"], ["Wickerwork Living", "Furniture"], ["Yarrow Naturals", "Cosmetics"], ["Zephyr Kites", "Retail"],
  ["Anvil Metalworks", "Machinery"], ["Briar Cosmetics", "Cosmetics"], ["Cobble Games", "Software"], ["Dovetail Joinery", "Crafts"], ["Estuary Ferries", "Transport"], ["Foxglove Pharmacy Group", "Health care"], ["Grapnel Insurance Brokers", "Insurance"], ["Heather Woollens", "Textiles"],
  ["Isobar Instruments", "Machinery"], ["Jetty Charters", "Tourism"], ["Kelp Organics", "Food"], ["Limestone Winery", "Wine"], ["Meridian Dance Company", "Culture"], ["Nettle Tea Rooms", "Hospitality"], ["Orrery Watches", "Retail"], ["Pumice Skincare", "Cosmetics"],
];

/** Firms that the canon does not have. The first seven are in every world's CRM, the first as one that pays no bills. */
export const firmsBeyond: readonly FirmBeyond[] = beyond.map(([name, industry]) => ({ name, industry, domain: `${name.toLowerCase().replaceAll(/[^a-z]/g, "")}.example` }));

export const jobs: readonly string[] = [
  "Marketing lead", "Head of sales", "Managing director", "Press officer", "Buyer", "Brand manager", "Office manager", "Product lead", "Head of communications", "Events manager", "Founder", "Operations lead",
];

export const dealProjects: readonly string[] = [
  "website relaunch", "annual report", "brand refresh", "trade fair stand", "product photos", "packaging design", "newsletter templates", "image film", "accessibility audit", "booking page", "signage", "recruiting campaign",
  "social media kit", "illustration set", "intranet design", "app prototype", "poster series", "customer survey", "menu cards", "photo archive", "press kit", "logo update", "winter campaign", "anniversary book",
];

export const asks: readonly string[] = [
  "Needs a new website before the season begins", "Wants packaging for three new products", "Looks for somebody to redo the logo", "Asked for a price for a short film", "Would like a catalogue in two languages", "Wants to know how long a relaunch takes",
  "Saw our work at the trade fair", "Needs a booking page that works on phones", "Looks for illustrations for a brochure", "Asked whether we do signage", "Plans a campaign for autumn", "Wants a newsletter that people read",
  "Needs photos of forty products", "Would like an accessibility audit", "Has a domain and nothing else", "Wants to replace an agency abroad", "Asked for references from the same field", "Needs an annual report by June", "Plans a shop window for the spring", "Wants templates for social media",
];

export const reasons: readonly string[] = ["No budget this year", "Chose another studio", "Wanted a print shop", "Never answered", "Too small a project", "Postponed to next year", "Asked for free work", "Outside our field"];

export const tasks: readonly string[] = [
  "Call about the budget", "Send the offer", "Send references", "Book a meeting", "Ask for the logo files", "Follow up on the proposal", "Prepare the contract", "Check the delivery dates", "Send the first sketches", "Share the mood board",
  "Agree on the schedule", "Clear up the rights", "Ask for feedback", "Confirm the print run", "Invite to the studio", "Update the estimate", "Send the invoice address", "Arrange a photo day", "Explain the two variants", "Ask who decides",
];

export const noteTexts: readonly string[] = [
  "Budget is fixed until summer", "Prefers calls before noon", "The board decides on the first Monday", "Compares us with a studio in the capital", "Liked the second variant best", "Contract goes through their lawyers", "Needs it in two languages", "Asked for a discount of five per cent",
  "Will send the texts by the end of the month", "Is on leave until the twentieth", "Wants to keep the old logo", "New head of marketing starts in April", "Two more people join the next call", "Would like to see similar work", "Delivery before the trade fair is a must", "Was very happy with the last project",
  "Payment in two parts agreed", "Asked us to wait for their figures", "Print run may double", "Photos must be theirs for ever", "Wants one person to talk to", "Offer from a competitor is lower", "Their shop moves in May", "Accessibility matters to them",
];
