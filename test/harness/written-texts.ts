/** A page of prose in one language, with what is hard to recognize in it: letters with signs, numbers, a list, a table. */
export interface WrittenText {
  readonly language: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  readonly list: readonly string[];
  readonly table: readonly (readonly string[])[];
}

/** One page for each language that text is recognized in. */
export const WRITTEN_TEXTS: readonly WrittenText[] = [
  {
    language: 'eng',
    heading: 'Minutes of the harbour meeting',
    paragraphs: [
      'The council met on 14 March at half past nine to decide what should happen to the old warehouse beside the river. Nobody had used the building since the flood, and most of its windows were broken. Three offers had arrived, the highest of which was 48,250 pounds, yet the neighbours asked for a library rather than another row of flats.',
      'After a long discussion the members agreed that the roof must be repaired before winter. They would pay for it from the reserve, which still holds more than enough, and they will ask the engineer whether the walls can carry a second floor. The next meeting takes place at the school because the town hall is being painted.',
      'Everyone who lives within two miles may send their thoughts to the clerk before the end of April. Letters that come later cannot be read out, although they are kept with the others.',
    ],
    list: ['measure the cellar and the stairs', 'write to the insurance company', 'find out who owns the bridge'],
    table: [
      ['Item', 'Pieces', 'Price'],
      ['Roof tiles', '1,200', '3,480.00'],
      ['Window frames', '36', '7,150.50'],
      ['Paint', '18', '412.75'],
    ],
  },
  {
    language: 'deu',
    heading: 'Bericht über die Prüfung der Brücke',
    paragraphs: [
      'Die Brücke über den Mühlbach wurde am 7. Juni gründlich geprüft, weil größere Risse im mittleren Pfeiler gemeldet worden waren. Wir haben dabei festgestellt, dass die Schäden älter sind, als wir zunächst geglaubt hatten. Für Fußgänger besteht keine Gefahr, doch schwere Fahrzeuge müssen bis auf Weiteres die Straße durch das Gewerbegebiet benutzen.',
      'Außerdem ließ der Bürgermeister erklären, dass die Gemeinde die Kosten von 186.400 Euro nicht allein tragen könne. Er hofft auf Unterstützung durch den Landkreis und würde die Arbeiten gerne noch vor dem Herbst beginnen. Während der Bauzeit fährt der Schulbus eine Schleife über Höfen und hält zusätzlich an der Kirche.',
      'Wer Fragen hat, kann sich jederzeit schriftlich an das zuständige Amt wenden. Die Pläne liegen dort zwei Wochen lang öffentlich aus und werden auf Wunsch auch erläutert.',
    ],
    list: [
      'Gerüst bestellen und aufstellen',
      'Anwohner rechtzeitig benachrichtigen',
      'Gutachten für den Träger einholen',
    ],
    table: [
      ['Abschnitt', 'Länge', 'Kosten'],
      ['Südufer', '12,5 m', '41.200 €'],
      ['Mittelpfeiler', '8,0 m', '97.650 €'],
      ['Nördliche Rampe', '31,4 m', '47.550 €'],
    ],
  },
  {
    language: 'fra',
    heading: 'Le marché du samedi déménage',
    paragraphs: [
      'À partir du 3 février, le marché du samedi ne se tiendra plus sur la place de l’église mais près de la gare, où les commerçants disposeront de beaucoup plus d’espace. La décision a été prise après une enquête menée auprès de 640 habitants, dont près des deux tiers se sont déclarés favorables à ce changement.',
      'Les maraîchers espèrent ainsi attirer une clientèle nouvelle, tandis que les boulangers du vieux quartier craignent déjà de perdre leurs fidèles. Pour les rassurer, la mairie a promis que le stationnement resterait gratuit jusqu’à midi et que des navettes circuleraient toutes les vingt minutes. Ça ne suffira peut-être pas, mais c’est un début.',
      'Une réunion publique aura lieu à l’école Jules-Verne. Chacun pourra y poser des questions ; les réponses seront ensuite affichées à l’entrée de l’hôtel de ville pendant un mois.',
    ],
    list: ['vérifier les branchements électriques', 'prévoir des bancs à l’ombre', 'réparer la fontaine gelée'],
    table: [
      ['Produit', 'Quantité', 'Recette'],
      ['Légumes', '2 300 kg', '5 870,20 €'],
      ['Fromages frais', '410 kg', '7 995,00 €'],
      ['Pâtisseries', '1 150', '2 645,80 €'],
    ],
  },
  {
    language: 'spa',
    heading: 'La biblioteca abrirá también por la noche',
    paragraphs: [
      'Desde el próximo otoño la biblioteca del barrio permanecerá abierta hasta las once de la noche, según anunció ayer la directora. Hace años que los estudiantes lo pedían, porque en muchas casas no hay un rincón tranquilo donde preparar los exámenes. El ayuntamiento pagará a cuatro vigilantes más, con un coste de 52.300 euros al año.',
      '¿Quién podrá entrar? Todo el que tenga un carné válido, aunque después de las nueve solo se abrirá la sala pequeña. También habrá talleres de lectura para niños y, cada jueves, una charla sobre la historia de la ciudad. Los vecinos más mayores, que temían el ruido, parecen ahora bastante satisfechos con la solución que se encontró.',
      'Quien quiera ayudar puede apuntarse en la recepción. No hace falta experiencia: basta con tener ganas, paciencia y algún rato libre durante la semana.',
    ],
    list: ['cambiar las lámparas del pasillo', 'comprar sillas más cómodas', 'señalizar la salida pequeña'],
    table: [
      ['Sección', 'Libros', 'Préstamos'],
      ['Niños', '4.820', '13.675'],
      ['Música y cine', '1.960', '5.402'],
      ['Teléfono móvil', '315', '1.088'],
    ],
  },
  {
    language: 'ita',
    heading: 'Il restauro del vecchio mulino',
    paragraphs: [
      'Il vecchio mulino sulla collina tornerà presto a girare, perché la provincia ha finalmente concesso il denaro che gli abitanti aspettavano dal 1998. Secondo l’architetto che segue i lavori, le pale di legno si possono salvare, mentre il tetto è così rovinato che bisognerà rifarlo da capo. La spesa prevista è di 94.700 euro.',
      'Più di sessanta volontari hanno già pulito il cortile e tagliato l’erba alta. Nei prossimi mesi saranno rimessi a posto anche i muri della cucina, dove una volta si faceva il pane per tutta la valle. Chi possiede vecchie fotografie è pregato di portarle in comune, affinché se ne possa fare una mostra nella città vicina.',
      'Quando il cantiere sarà chiuso, il mulino resterà aperto ogni domenica. L’ingresso non costerà nulla ai ragazzi, e gli altri pagheranno quello che vorranno.',
    ],
    list: ['controllare la stabilità delle travi', 'chiamare il falegname di città', 'ordinare le pietre già scelte'],
    table: [
      ['Lavoro', 'Giorni', 'Importo'],
      ['Tetto e grondaie', '45', '38.900 €'],
      ['Ruota', '30', '27.450 €'],
      ['Proprietà vicina', '12', '6.310 €'],
    ],
  },
  {
    language: 'nld',
    heading: 'Nieuwe fietsroute langs het kanaal',
    paragraphs: [
      'De gemeente begint in augustus met de aanleg van een nieuwe fietsroute langs het kanaal, zodat scholieren niet langer over de drukke weg hoeven te rijden. Volgens de wethouder wordt het pad ongeveer vijf kilometer lang en krijgt het aan beide zijden verlichting. De kosten bedragen 735.000 euro, waarvan de helft door de provincie wordt betaald.',
      'Niet iedereen is daar blij mee. Enkele boeren vrezen dat zij hun land moeilijker kunnen bereiken, en de vereniging van vissers wil weten waar haar leden straks mogen zitten. Toch heeft een meerderheid van de raad vóór gestemd, omdat er vorig jaar zeven ongelukken zijn gebeurd die met een eigen pad voorkomen hadden kunnen worden.',
      'Wie de tekeningen wil bekijken, is van harte welkom in het buurthuis. Daar zijn ook formulieren te vinden waarmee men een bezwaar kan indienen.',
    ],
    list: ['de bomen bij de sluis sparen', 'bankjes plaatsen na elke kilometer', 'een hek maken voor het vee'],
    table: [
      ['Onderdeel', 'Lengte', 'Kosten'],
      ['Asfalt', '5,2 km', '410.000'],
      ['Verlichting', '4,8 km', '198.500'],
      ['Bruggetje', '0,1 km', '126.500'],
    ],
  },
  {
    language: 'pol',
    heading: 'Święto jabłek w naszej gminie',
    paragraphs: [
      'W najbliższą sobotę odbędzie się święto jabłek, na które zapraszamy wszystkich mieszkańców gminy oraz gości z sąsiednich miejscowości. Początek o godzinie dziesiątej przed szkołą, a jeśli będzie padać deszcz, spotkamy się w świetlicy. W zeszłym roku przyszło ponad 1350 osób i mamy nadzieję, że teraz będzie ich jeszcze więcej.',
      'Oprócz owoców będzie można kupić miód, chleb na zakwasie i wełniane skarpety, które robią panie z koła gospodyń. Dla dzieci przygotowaliśmy przejażdżki wozem, a dla dorosłych konkurs na najlepszą szarlotkę. Zwycięzca otrzyma nagrodę ufundowaną przez wójta. Część pieniędzy przeznaczymy na naprawę dachu straży pożarnej.',
      'Prosimy nie przyjeżdżać własnymi samochodami, ponieważ parking jest bardzo mały. Autobus będzie kursował co pół godziny, także późnym wieczorem.',
    ],
    list: ['przynieść własne koszyki', 'zgłosić ciasto do piątku', 'pomóc przy sprzątaniu łąki'],
    table: [
      ['Odmiana', 'Ilość', 'Cena'],
      ['Szara reneta', '420 kg', '3,80 zł'],
      ['Złota', '315 kg', '4,25 zł'],
      ['Późna żółta', '96 kg', '5,10 zł'],
    ],
  },
  {
    language: 'por',
    heading: 'A estação volta a receber comboios',
    paragraphs: [
      'Depois de onze anos de silêncio, a pequena estação da vila volta a receber comboios já no próximo mês. A ligação à capital de distrito será feita quatro vezes por dia, e a viagem não deverá demorar mais de cinquenta minutos. Segundo a empresa, o investimento chegou aos 2.140.000 euros, incluindo a reparação das duas pontes.',
      'Os habitantes mais velhos lembram-se bem dos tempos em que as crianças iam à escola de comboio e o correio chegava de manhã cedo. Agora esperam que a linha traga também visitantes, porque a região tem praias fluviais muito bonitas que poucos conhecem. Já há quem pense em abrir uma pensão ou um café junto à estação.',
      'Os bilhetes poderão ser comprados na máquina ou com o revisor. Quem tiver mais de sessenta e cinco anos pagará só metade, até ao fim do verão.',
    ],
    list: ['pintar a sala de espera', 'pôr um relógio na fachada', 'limpar o caminho até à povoação'],
    table: [
      ['Ligação', 'Partida', 'Preço'],
      ['São Tomé', '07h45', '4,60 €'],
      ['Conceição', '12h10', '3,95 €'],
      ['Estação norte', '18h30', '6,20 €'],
    ],
  },
];
